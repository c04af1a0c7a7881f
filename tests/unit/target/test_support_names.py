"""Names of the text above a user's own: no two sources of generated text give one name two meanings. They meet in one
file as soon as a program has a region for each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import pytest

from tests.unit.trees import CODEGEN

TEMPLATES = CODEGEN.parent / "templates"
# Kinds of files that are made, by what prints them: names of two of them never meet. All others print into C files for
# processors.
WORLDS = {
    "device": ("templates/gpu/", "codegen/gpu/"),
    "sparse": ("templates/sparse/", "codegen/sparse/"),
    "check": ("templates/check_", "codegen/checking/"),
    "tune": ("templates/tune",),
}
# Devices have languages of their own, one for each file: what a name means in one is said again in the other.
DIALECTS = {"device": ("kernels.cl.j2", "opencl.c.j2", "cuda_runtime.h")}
# Switches of who compiles a result, which several sources ask for and one may set for the rest of a file.
SWITCHES = {
    "TW_NO_FMA": "products and sums are rounded apart",
    "TW_NO_SIZE": "no test of what sizes a type can count",
    "TW_FUSED": "defined once for all kernels of a file",
}
_DEFINED = re.compile(r"#[ ]*define[ ]+(tw_\w+|TW_\w+)((?:\([^)\n]*\))?(?:[^\n]*\\\n)*[^\n]*)")
_ASKED = re.compile(r"#[ ]*(?:if|elif|ifdef|ifndef)\b([^\n]*)")
_KIND = r"(?:static|inline|extern|cold|const|TW_INLINE|__attribute__\(\([^\n]*?\)\))"
_DECLARED = re.compile(rf"^(?:{_KIND}\s+)+[\w \t*]*?\b(tw_\w+)(?:\[|;| =|\((?![^\n]*\);$))", re.M)


def sources() -> dict[str, str]:
    """All that holds generated text, by path."""
    paths = [*TEMPLATES.rglob("*.j2"), *(p for e in ("py", "c", "h") for p in CODEGEN.rglob(f"*.{e}"))]
    return {p.relative_to(CODEGEN.parent).as_posix(): p.read_text(encoding="utf-8") for p in sorted(paths)}


def world(path: str) -> str:
    return next((name for name, begins in WORLDS.items() if path.startswith(begins)), "host")


def conflicts(texts: Mapping[str, str]) -> list[str]:
    """Names with two meanings in one kind of file: macros with other bodies, macros that one source defines and another
    asks for, functions and variables of two sources, and those that are a macro elsewhere."""
    macros: dict[tuple[str, str], dict[str, tuple[str, ...]]] = defaultdict(dict)
    asked: dict[tuple[str, str], set[str]] = defaultdict(set)
    declared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path, text in texts.items():
        own: dict[str, list[str]] = defaultdict(list)
        for m in _DEFINED.finditer(text):
            own[m[1]].append(" ".join(m[2].replace("\\\n", " ").split()))
        for name, bodies in own.items():
            macros[world(path), name][path] = tuple(bodies)
        for m in _ASKED.finditer(text):
            for name in re.findall(r"\bTW_\w+", m[1]):
                asked[world(path), name].add(path)
        for m in _DECLARED.finditer(text):
            declared[world(path), m[1]].add(path)
    return [
        *_two_bodies(macros),
        *_switches_of_others(macros, asked),
        *(f"`{n}` is declared by {_listed(p)}" for (w, n), p in declared.items() if len(_spoken(w, p)) > 1),
        *(f"`{n}` is a macro of {_listed(macros[w, n])} and declared by {_listed(p)}"
          for (w, n), p in declared.items() if set(macros[w, n]) - p),
    ]  # fmt: skip


def _two_bodies(macros: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]) -> list[str]:
    out = []
    for (kind, name), found in macros.items():
        spoken = _spoken(kind, found)
        if len({found[path] for path in spoken}) > 1:
            out.append(f"`{name}` means one thing in {_listed(spoken[:1])} and another in {_listed(spoken[1:])}")
    return out


def _switches_of_others(
    macros: Mapping[tuple[str, str], Mapping[str, object]], asked: Mapping[tuple[str, str], set[str]]
) -> list[str]:
    """A user would set what another source sets for itself."""
    return [
        f"`{name}` is defined by {_listed(own)}, and {_listed(paths - set(own))} asks for it"
        for (kind, name), paths in asked.items()
        if (own := macros.get((kind, name))) and kind == "host" and paths - set(own) and name not in SWITCHES
    ]


def _spoken(kind: str, paths: Iterable[str]) -> list[str]:
    """The sources that print one language."""
    return [p for p in sorted(paths) if not p.endswith(DIALECTS.get(kind, ("-",)))]


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(sorted(paths))


def test_every_name_has_one_meaning() -> None:
    assert conflicts(sources()) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("templates/mpi.c.j2", "#ifdef TW_STEPS\n  return TW_STEPS;\n#endif\n"),
        ("templates/mpi.c.j2", "#define TW_UNROLL 4\n"),
        ("templates/mpi.c.j2", "static inline long tw_share(long n) { return n; }\n"),
        ("codegen/mpi/x.py", "TEXT = '''\nstatic int tw_share[4];\n'''\n"),
        ("templates/matvec.c.j2", "#define tw_share(x) (x)\n"),
    ],
)
def test_a_second_meaning_is_found(path: str, text: str) -> None:
    texts = {**sources(), path: sources().get(path, "") + text}
    assert conflicts(texts)
