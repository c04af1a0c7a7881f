"""Results that meet in one translation unit: of what each brings along the first definition serves all."""
from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest

import codegen
from tests.compilers import quick, sanitizes, with_openmp
from tests.corpus import KERNELS

# Products and sweeps with kernels of their own, vectors in loops of several kinds, pipelines, folds.
NAMES = ("gemm", "atax", "jacobi-2d", "reverse-copy", "even-odd-split", "dot")
PRODUCTS = ("gemm", "atax")
MACHINES = {"x86_64": ("haswell", "skylake-x"), "aarch64": ("neoverse-n1",)}
FLAGS = ("-std=c11", "-O1", "-DDRIVER", "-Wall", "-Wextra", "-Werror", f"-I{KERNELS}")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
# What may differ, and then the first one's value is good for all.
CHOICES = {"TW_PARALLEL_MIN"}

Results = dict[tuple[str, str], str]


@pytest.fixture(scope="module")
def results() -> Results:
    """Generated text by kernel and machine."""
    parts = [(name, "generic") for name in NAMES]
    parts += [(name, machine) for name in PRODUCTS for machine in MACHINES.get(platform.machine(), ())]
    return {(name, machine): codegen.generate(KERNELS / f"{name}.c", machine=machine, include=[KERNELS],
                                              reassociate=name == "dot").text for name, machine in parts}


def guarded(text: str) -> dict[str, str]:
    """What stands between `#ifndef TW_...` and its `#endif`, by that name, where it defines the name."""
    found: dict[str, str] = {}
    open_at: list[tuple[str, int]] = []
    for m in re.finditer(r"^ *# *(ifndef (TW_\w+)|if|endif).*\n", text, re.M):
        if m[1] != "endif":
            open_at.append((m[2] or "", m.end()))
        else:
            name, start = open_at.pop()
            if re.search(rf"^ *# *define {name}\b", text[start : m.start()], re.M) and name:
                found[name] = text[start : m.start()]
    return found


def test_a_name_has_one_meaning(results: Results) -> None:
    """Under one guard there is one text, whatever it was generated from and for; nothing is defined under two."""
    texts: dict[str, str] = {}
    guards: dict[str, str] = {}
    for made in results.values():
        for guard, text in guarded(made).items():
            if guard not in CHOICES:
                assert texts.setdefault(guard, text) == text
            for name in re.findall(r"^(?:typedef .*?|} |TW_INLINE .*?)\b(tw_\w+)(?:;|\(| __attr)", text, re.M):
                assert guards.setdefault(name, guard) == guard
        again = r"^(typedef .*?\b(tw_\w+) __attribute__.*;|#define TW_F64\w+\(.*)$"  # without a guard
        found: dict[str, list[str]] = {}  # more than one where the preprocessor chooses
        for text, name in re.findall(again, made, re.M):
            found.setdefault(name or text.split("(")[0], []).append(text)
        for name, ways in found.items():
            assert texts.setdefault(name, "\n".join(ways)) == "\n".join(ways)
    assert {"tw_f64x2", "tw_f64x2u", "#define TW_F64X2U", "TW_MIN"} <= set(texts)


def unit(folder: Path, parts: Iterable[tuple[str, str]]) -> Path:
    """One file with the results and a main that runs the driver of each."""
    lines, calls = [], []
    for name, machine in parts:
        word = f"{name}_{machine}".replace("-", "_")
        kernel = f"kernel_{name}".replace("-", "_")
        lines += [f"#define main main_{word}", f"#define {kernel} {kernel}_{word}",
                  f'#include "{word}.c"', "#undef main", f"#undef {kernel}"]
        calls.append(f"main_{word}(argc, argv)")
    out = folder / "unit.c"
    main = f"int main(int argc, char **argv) {{ return {' || '.join(calls)}; }}"
    out.write_text("\n".join([*lines, main, ""]), encoding="utf-8")
    return out


def built(compiler: str, source: Path, *flags: str) -> Path:
    program = source.with_suffix("")
    threads = ("-fopenmp",) if compiler in with_openmp() else ("-Wno-unknown-pragmas",)
    words = [compiler, *FLAGS, *threads, *flags, str(source), "-lm", "-o", str(program)]
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def said(program: Path) -> list[str]:
    done = subprocess.run([program], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def write(folder: Path, results: Results) -> None:
    for (name, machine), text in results.items():
        (folder / f"{name}_{machine}.c".replace("-", "_")).write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_in_one(compiler: str, results: Results, tmp_path: Path) -> None:
    write(tmp_path, results)
    for parts in (list(results), list(results)[::-1]):
        built(compiler, unit(tmp_path, parts))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_pairs_under_the_sanitizer(compiler: str, results: Results, tmp_path: Path) -> None:
    """Rows of an odd number of elements begin anywhere; both orders give the results of the sources."""
    if not sanitizes(compiler):
        pytest.skip(f"{compiler} has no sanitizer here")
    write(tmp_path, results)
    sanitized = ("-fsanitize=undefined,alignment", "-fno-sanitize-recover=all", "-DTW_NO_FMA", "-ffp-contract=off",
                 *quick(compiler))
    alone = {n: said(built(compiler, copy(KERNELS / f"{n}.c", tmp_path), "-ffp-contract=off", "-Wno-unknown-pragmas"))
             for n in ("gemm", "jacobi-2d")}
    for first, second in permutations(alone):
        program = built(compiler, unit(tmp_path, [(first, "generic"), (second, "generic")]), *sanitized)
        assert said(program) == alone[first] + alone[second]


def copy(source: Path, folder: Path) -> Path:
    out = folder / f"source-{source.name}"
    out.write_bytes(source.read_bytes())
    return out
