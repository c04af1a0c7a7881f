"""The C names of value and index types (`Types`: f64, 32), and `Writer`, the indented lines of C that all printers of
sparse code write to."""
from __future__ import annotations

from codegen.record import record
from codegen.sparse.ir.nest import FLAG, INDEX, RECORD, VALUE, WIDE

VALUES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t"}
INDICES = {"32": "int32_t", "64": "int64_t"}


@record
class Types:
    """Names of the types, as options spell them: f64, and 32 or 64."""

    value: str = "f64"
    index: str = "32"

    @property
    def c_value(self) -> str:
        return VALUES[self.value]

    @property
    def c_index(self) -> str:
        return INDICES[self.index]

    @property
    def suffix(self) -> str:
        return f"{self.value}_i{self.index}"

    @property
    def index_max(self) -> str:
        return f"INT{self.index}_MAX"

    def c(self, kind: str) -> str:
        if kind.startswith(RECORD):
            fields = ", ".join(f"x{d}" for d in range(int(kind.removeprefix(RECORD))))
            return f"struct {{ {self.c_index} {fields}; {self.c_value} v; }}"
        return {INDEX: self.c_index, VALUE: self.c_value, WIDE: "int64_t", FLAG: "unsigned char"}[kind]


class Writer:
    """Lines of C with indentation."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def line(self, text: str = "") -> None:
        self.lines.append("    " * self.depth + text if text and not text.startswith("#") else text)

    def open(self, text: str) -> None:
        self.line(f"{text} {{" if text else "{")
        self.depth += 1

    def close(self, text: str = "}") -> None:
        self.depth -= 1
        self.line(text)

    def pragma(self, text: str) -> None:
        """For OpenMP, where there is one: else compilers warn of what they do not know."""
        for line in ("#ifdef _OPENMP", f"#pragma omp {text}", "#endif"):
            self.line(line)

    def comment(self, text: str) -> None:
        self.line(f"/* {text[:1].upper()}{text[1:]}. */")

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)
