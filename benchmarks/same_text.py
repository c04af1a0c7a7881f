"""python -m benchmarks.same_text: whether generated text is still what it was, over the corpus, all targets and all
instruction sets.

A rebuilding must not change what is printed. `make same-text B=--write`, before it, keeps two digests of every text in
`build/same_text.txt`: of its bytes, and of its tokens (without comments and white space). `make same-text`, after it,
compares all of them and says which texts have other bytes, and which have other tokens; `--show gemm openmp` prints a
text, to compare with that of another version.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import NamedTuple

from codegen.isa.known import ISAS
from codegen.options import CppOptions, GenOptions
from codegen.pipeline import generate
from codegen.source_file import load_all
from codegen.targets.registry import DEFAULT, target_names
from codegen.verify.choices.variants import tokens

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples" / "kernels"
LIST = ROOT / "build" / "same_text.txt"
USUAL = GenOptions(banner=False, cpp=CppOptions(args=(f"-I{KERNELS}",)))
# Every target on the default machine, and the default target with every instruction set.
WAYS: Mapping[str, GenOptions] = {
    **{t: replace(USUAL, target=t) for t in target_names()},
    **{f"{DEFAULT}-{isa}": replace(USUAL, isa=isa) for isa in ISAS},
}
HEAD = "# kernel, way, digest of the bytes, digest of the tokens\n"


class Digests(NamedTuple):
    """Of a text: its bytes, and its tokens."""

    bytes: str
    tokens: str


Key = tuple[str, str]  # a kernel and a way


def text_of(key: Key) -> str:
    """What is generated of a kernel in a way: the file, and those beside it."""
    kernel, way = key
    path = KERNELS / f"{kernel}.c"
    made = generate(path.name, path.read_text(encoding="utf-8"), WAYS[way])
    return "".join([made.text, *(f"\n=== {name}\n{text}" for name, text in made.extra.files)])


def digests(text: str) -> Digests:
    """Both digests of a text."""
    first, second = (sha256(x.encode()).hexdigest()[:12] for x in (text, " ".join(tokens(text))))
    return Digests(first, second)


def listed() -> dict[Key, Digests]:
    """The digests that were written last."""
    lines = LIST.read_text(encoding="utf-8").splitlines() if LIST.exists() else []
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {(kernel, way): Digests(a, b) for kernel, way, a, b in rows}


def keys(kernels: Iterable[str] = ()) -> list[Key]:
    """All texts of some kernels, or of all."""
    return list(product(kernels or sorted(p.stem for p in KERNELS.glob("*.c")), WAYS))


def different(found: Mapping[Key, Digests], known: Mapping[Key, Digests]) -> Iterator[str]:
    """A line for each text that is not what it was."""
    for key, now in found.items():
        was = known.get(key)
        if was is None:
            yield f"{' '.join(key)}: not listed"
        elif now.tokens != was.tokens:
            yield f"{' '.join(key)}: other tokens"
        elif now != was:
            yield f"{' '.join(key)}: the same tokens, other bytes"


def _digests(key: Key) -> tuple[Key, Digests]:
    return key, digests(text_of(key))


def main(words: list[str]) -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_text", description=__doc__)
    parser.add_argument("kernel", nargs="*", help="kernels of examples/kernels; all without")
    parser.add_argument("--write", action="store_true", help="replace the digests")
    parser.add_argument("--show", nargs=2, metavar=("KERNEL", "WAY"), help="print a text")
    given = parser.parse_args(words)
    if given.show:
        sys.stdout.write(text_of((given.show[0], given.show[1])))
        return 0
    wanted, known = keys(given.kernel), listed()
    load_all()
    found: dict[Key, Digests] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for key, made in pool.map(_digests, wanted, chunksize=len(WAYS)):
            found[key] = made
            print(f"\r{len(found)} of {len(wanted)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if given.write:
        LIST.parent.mkdir(exist_ok=True)
        rows = sorted({**(known if given.kernel else {}), **found}.items())
        LIST.write_text(HEAD + "".join(f"{k} {w} {d.bytes} {d.tokens}\n" for (k, w), d in rows), encoding="utf-8")
        return 0
    lines = list(different(found, known))
    print("\n".join(lines) or f"{len(found)} texts are the same")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
