"""Digest of all that the list of proven texts depends on: the modules that prove, those that print what is proven, all
that either imports, the tables of instruction sets, and the templates of C.

Which files these are is found once, from the syntax trees of modules, and kept beside the list (`data/sources.txt`).
While none of them changes, none imports anything else, so that the names that are kept are all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from codegen.resources import data_dir, templates_dir

PACKAGE = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).parent / "data" / "sources.txt"
# What proves, and what prints the texts and says what is wanted of them.
ROOTS = ("codegen/verify/text", "codegen/target/product", "codegen/target/matvec", "codegen/target/emit.py",
         "codegen/target/portable.py")  # fmt: skip
TEMPLATES = "templates"
OF_PAGES = (".html.j2", ".css.j2", ".js.j2")
OF_OTHERS = ("gpu", "sunway", "sparse", "tune")  # folders of templates that print no product of a host


def recorded() -> tuple[str, ...]:
    """The files that the list was made with, as they are called in the source tree."""
    return tuple(SOURCES.read_text(encoding="ascii").split()) if SOURCES.is_file() else ()


def digest(names: Sequence[str]) -> str:
    """A digest of files; of nothing where one of them is missing."""
    all_of_it, folders = blake2b(digest_size=16), _folders()
    for name in names:
        room, _, rest = name.partition("/")
        try:
            with open(f"{folders[room]}/{rest}", "rb", buffering=0) as file:
                all_of_it.update(f"{name}\n".encode())
                all_of_it.update(file.read())
        except FileNotFoundError:
            return ""
    return all_of_it.hexdigest()


def _folders() -> dict[str, str]:
    """Where the folders of the source tree are: a wheel holds templates inside the package. Texts, since paths would
    take longer than all of the digest."""
    return {"codegen": str(PACKAGE), TEMPLATES: str(templates_dir())}


def found() -> tuple[str, ...]:
    """The files, found anew."""
    modules = {f"codegen/{p.relative_to(PACKAGE).as_posix()}" for p in PACKAGE.rglob("*.py")}
    seen: set[str] = set()
    todo = [m for m in modules if m in ROOTS or any(m.startswith(f"{r}/") for r in ROOTS)]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            text = (PACKAGE.parent / name).read_text(encoding="utf-8")
            todo += _imported(ast.parse(text), modules)
    return tuple(sorted((*seen, *_tables(), *_templates())))


def _imported(tree: ast.AST, modules: set[str]) -> Iterator[str]:
    """The modules of the tool that a module imports, those inside functions and the packages around them too; not those
    that only types are taken from."""
    for dotted in _names(tree):
        parts = dotted.split(".")
        for k in range(1, len(parts) + 1):
            path = "/".join(parts[:k])
            yield from (x for x in (f"{path}.py", f"{path}/__init__.py") if x in modules)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for other in node.orelse:
                yield from _names(other)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        else:
            yield from _names(node)


def _tables() -> Iterable[str]:
    """The tables of instruction sets."""
    return (f"codegen/isa/data/{p.name}" for p in data_dir("isa").glob("*.toml"))


def _templates() -> Iterator[str]:
    """The templates of C for hosts."""
    folder = templates_dir()
    for p in folder.rglob("*.j2"):
        name = p.relative_to(folder).as_posix()
        if not name.endswith(OF_PAGES) and name.partition("/")[0] not in OF_OTHERS:
            yield f"{TEMPLATES}/{name}"
