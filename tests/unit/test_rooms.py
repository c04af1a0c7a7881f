"""The plan of the house: imports go down a staircase of rooms, those inside functions too, and no room is crowded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import codegen
from tests.unit.trees import CODEGEN, SOURCES, tree_of

UNIT = Path(__file__).parent
# From the ground up. A room may use what stands before it; a room is a folder, or a module beside them. Targets are
# loaded by name (targets/registry.py), so that hosts/ and sunway/ may stand above what asks for them.
ROOMS = (
    "resources", "patterns", "record", "limits", "startup", "diagnostics", "filters", "scop", "targets", "options",
    "source", "isa", "kir", "machine", "frontend", "recognize",
    "ast", "lower", "print", "plan", "target", "verify", "transform", "strategy", "plan_reader",
    "source_file", "children", "partial", "region_model", "plan_outcome", "region", "supervise", "auto",
    "versions", "pipeline",
    "refusals", "checking", "hosts", "tune", "report", "library", "sparse", "sarif", "render", "bench", "serve",
    "sunway", "mpi", "gpu", "cli", "api",
)  # fmt: skip
# Folders of a room among each other, and modules beside them that folders use, in the same way. All other modules of
# the room bring them together: no folder uses those.
PARTS = {
    "source": ("edits", "encoding", "language", "layout", "macro_tables", "preprocessor", "preprocess", "gnu",
               "misspelt", "regions", "marks", "region_slice", "statement_expressions", "cxx", "slice", "dialect",
               "macros"),
    "frontend": ("syntax", "context", "expressions", "parameters", "rewrite", "memory", "statements"),
    "recognize": ("access", "ownership", "stores", "privatize", "reductions", "products"),
    "checking": ("harness", "test_sizes", "show", "sanitize", "trials", "ranks"),
    "lower": ("nest",),
    "gpu": ("plan", "registers", "body", "transfers", "tiles", "staged", "steps", "stream", "resident"),
    "mpi": ("program", "counting", "phases", "layout", "grid", "network", "blocks", "phase_program", "boxes", "pairs",
            "messages", "panels", "overlap", "cyclic", "variables", "wide", "trees", "share",
            "predict", "text"),
    "target": ("text", "finish", "guards", "vector", "product", "matvec", "dispatch"),
    "verify": ("poly", "kernel", "text", "choices", "readback", "guards", "overlap", "evidence",
               "scalar_replacement", "lowered", "loops", "cores"),
    "strategy": ("remarks", "cost", "knobs", "orders", "loops", "products"),
    "tune": ("children", "contraction", "native", "timing", "tree", "actions", "cost", "graph", "observe", "records",
             "region", "build", "search", "measure", "learn", "plans"),
    "report": ("ownership", "directive_sentences", "speed", "sample", "traffic", "text", "html", "tuning"),
    "sunway": ("plan", "text", "staging", "partial", "vector", "mesh", "slave", "stencil", "reductions", "survey",
               "resident", "resident_views", "launch", "profit", "emulation"),
    "sparse": ("algebra", "formats", "ir", "synth", "prove", "emit", "direct", "indirect", "api",
               "kernels", "python"),
    "cli": ("argv", "commands", "exitcodes", "ineffective", "options", "cc", "job", "output", "shell", "parser",
            "gen", "main", "wrap"),
}  # fmt: skip
MOST = 20  # files of a folder
PARAMETERS = 6  # of a function
LINES = 800  # of a file; most have half of that and less
CALLED_BY_NAME = ("Converter.__init__", "KernelCall.__init__")  # users give what they want by its name


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    return tuple(imports(tree_of(path)))


def imports(tree: ast.AST) -> Iterator[str]:
    """All modules that are imported anywhere, but for annotations."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"relative import of {node.module}"
            yield from (f"{node.module}.{a.name}" for a in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif not isinstance(node, (ast.expr, ast.expr_context)):
            yield from imports(node)


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "codegen" and len(parts) > 1 else ""


def test_every_room_has_its_place() -> None:
    rooms = {p.stem for p in CODEGEN.glob("*.py")} | {p.parent.name for p in CODEGEN.glob("*/__init__.py")}
    assert rooms - {"__init__", "__main__"} == set(ROOMS)


def test_no_room_hides_a_public_name() -> None:
    """A folder that is imported becomes an attribute of the package, in place of the function of the same name."""
    assert not set(ROOMS) & set(codegen.__all__)


def test_imports_go_down() -> None:
    wrong = []
    for path in SOURCES:
        room = path.relative_to(CODEGEN).with_suffix("").parts[0]
        if room in ("__init__", "__main__"):
            continue
        for name in imports_of(path):
            other = room_of(name)
            if other in ROOMS and ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(CODEGEN)} uses {name}")
    assert not wrong


def test_imports_go_down_within_rooms() -> None:
    wrong = []
    assert set(PARTS) == {p.parts[-3] for p in CODEGEN.glob("*/*/__init__.py")}
    for room, parts in PARTS.items():
        assert set(parts) >= {p.parent.name for p in (CODEGEN / room).glob("*/__init__.py")}
        for path in sorted((CODEGEN / room).rglob("*.py")):
            part = path.relative_to(CODEGEN / room).with_suffix("").parts[0]
            for name in imports_of(path) if part in parts else ():
                other = (name.split(".") + [""] * 3)[2] if room_of(name) == room else part
                if other not in parts or parts.index(other) > parts.index(part):
                    wrong.append(f"{path.relative_to(CODEGEN)} uses {name}")
    assert not wrong


def test_no_room_is_crowded() -> None:
    counts = {p.parent: len(list(p.parent.glob("*.py"))) - 1 for p in CODEGEN.rglob("__init__.py")}
    assert not {str(p.relative_to(CODEGEN)): n for p, n in counts.items() if n > MOST}


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """All functions, with the classes and functions around them in their names."""
    for node in ast.iter_child_nodes(tree):
        name = f"{within}.{node.name}" if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else within
        if isinstance(node, ast.FunctionDef):
            yield name.lstrip("."), node
        if not isinstance(node, (ast.expr, ast.expr_context)):
            yield from functions(node, name)


def test_no_function_has_many_parameters() -> None:
    """What belongs together is a record, which has a name and a sentence."""
    wrong = []
    for path in SOURCES:
        for name, f in functions(tree_of(path)):
            given = [a.arg for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)]
            count = len([a for a in given if a not in ("self", "cls")])
            if count > PARAMETERS and name not in CALLED_BY_NAME:
                wrong.append(f"{path.relative_to(CODEGEN)}: {name} has {count}")
    assert not wrong


def test_no_file_is_long() -> None:
    sizes = {p: p.read_text(encoding="utf-8").count("\n") for p in SOURCES}
    assert not {str(p.relative_to(CODEGEN)): n for p, n in sizes.items() if n > LINES}


def test_units_are_tested_where_they_are() -> None:
    """Folders of tests/unit have the names of folders of the package; what tries the benchmarks has one of its own."""
    folders = {p.parent.relative_to(UNIT) for p in UNIT.rglob("test_*.py")} - {Path("benchmarks")}
    assert not [str(f) for f in sorted(folders) if not (CODEGEN / f / "__init__.py").exists()]


def test_what_records_remember_has_one_owner() -> None:
    """Answers are kept with records by name; two modules that use one name would read each other's."""
    owners: dict[str, set[str]] = {}
    for path in CODEGEN.rglob("*.py"):
        for name in re.findall(r"__dict__(?:\.get\(|\[)\"(\w+)\"", path.read_text(encoding="utf-8")):
            owners.setdefault(name, set()).add(str(path.relative_to(CODEGEN)))
    assert not {name: sorted(files) for name, files in owners.items() if len(files) > 1}
