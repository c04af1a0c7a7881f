"""Tensor contractions of the TCCG suite against the matrix product of equal shape."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.tensor_build import SOURCES, Generated, Options, Program, Workshop
from benchmarks.tensor_groups import Group
from benchmarks.tensor_report import Goal, Row

TABLE = SOURCES / "contractions.txt"
PARTS = 4  # files, generated and compiled side by side
# Large extents are made smaller so that a row takes a few hundredths of a second; the small ones, which make the
# subscripts odd, stay.
SCALED = {1024: 512, 32: 24}


@dataclass(frozen=True)
class Contraction:
    """C[..] += A[..] * B[..] by index letters, with the extent of each letter."""

    name: str
    extents: dict[str, int]

    @property
    def tensors(self) -> tuple[str, str, str]:
        c, a, b = self.name.split("-")
        return c, a, b

    @property
    def function(self) -> str:
        return "tc_" + self.name.replace("-", "_")

    @property
    def letters(self) -> list[str]:
        return sorted(self.extents)

    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and depth of the equal matrix product."""
        c, a, _ = self.tensors
        m = n = k = 1
        for letter, extent in self.extents.items():
            if letter not in c:
                k *= extent
            elif letter in a:
                m *= extent
            else:
                n *= extent
        return m, n, k

    def scaled(self) -> Contraction:
        return Contraction(self.name, {x: SCALED.get(e, e) for x, e in self.extents.items()})

    def nest(self) -> str:
        """The plain C function: loops over the indices of C, then over the summed ones."""
        c = self.tensors[0]
        order = [*c, *(x for x in self.letters if x not in c)]
        arrays = [f"double {t}{self._brackets(x, 'n')}" for t, x in zip("CAB", self.tensors, strict=True)]
        head = f"void {self.function}({', '.join([*(f'long n{x}' for x in self.letters), *arrays])})"
        loops = [f"{'    ' * d}for (long {x} = 0; {x} < n{x}; {x}++)" for d, x in enumerate(order, 1)]
        left, *factors = (f"{t}{self._brackets(x, '')}" for t, x in zip("CAB", self.tensors, strict=True))
        body = f"{'    ' * (len(order) + 1)}{left} += {' * '.join(factors)};"
        return "\n".join([head, "{", "#pragma scop", *loops, body, "#pragma endscop", "}", ""])

    def prototype(self) -> str:
        return self.nest().partition("\n")[0] + ";"

    def call(self) -> str:
        """A function of one type for all contractions, for the driver's table."""
        extents = ", ".join(f"e[{ord(x) - ord('a')}]" for x in self.letters)
        return (
            f"static void call_{self.function}(const long *e, double *C, double *A, double *B)\n"
            f"{{\n    {self.function}({extents}, (void *)C, (void *)A, (void *)B);\n}}\n"
        )

    def case(self) -> str:
        return f"{self.name}:{','.join(str(self.extents[x]) for x in self.letters)}"

    @staticmethod
    def _brackets(letters: str, prefix: str) -> str:
        return "".join(f"[{prefix}{x}]" for x in letters)


def parse(line: str) -> Contraction:
    name, sizes = line.split()
    extents: dict[str, int] = {}
    for letters, tensor in zip(name.split("-"), sizes.split("-"), strict=True):
        for letter, size in zip(letters, tensor.split("x"), strict=True):
            if extents.setdefault(letter, int(size)) != int(size):
                raise ValueError(f"{name}: two extents for {letter}")
    return Contraction(name, extents)


def contractions() -> list[Contraction]:
    lines = TABLE.read_text().splitlines()
    return [parse(line) for line in lines if line and not line.startswith("#")]


def driver_table(rows: list[Contraction]) -> str:
    entries = [f'    {{"{c.name}", call_{c.function}}},' for c in rows]
    table = ["static const struct {", "    const char *name;", "    contraction *run;", "} table[] = {", *entries, "};"]
    return "\n".join([*(c.prototype() for c in rows), "", *(c.call() for c in rows), *table, ""])


class Contractions(Group):
    """Each row of the table, and the product with the same rows, columns and depth."""

    name = "contraction"
    ours, theirs = "GFlop/s", "product"
    goal = Goal(0.95, 0.85, "the matrix product")

    def prepare(self, out: Path, options: Options) -> None:
        rows = contractions()[:: 5 if options.quick else 1]
        self.rows = rows if options.full else [c.scaled() for c in rows]
        parts = [out / f"contractions{p}.c" for p in range(PARTS)]
        for p, path in enumerate(parts):
            path.write_text("\n".join(c.nest() for c in rows[p::PARTS]))
        (out / "contraction_table.h").write_text(driver_table(rows))
        product = Generated("dgemm", SOURCES / "gemm.c", ("REAL=double",))
        self.generated = (product, *(Generated(p.stem, p) for p in parts))
        objects = tuple(g.name for g in self.generated)
        self.programs = (Program("drive-contractions", (SOURCES / "drive_contractions.c",), objects),)

    def measure(self, shop: Workshop) -> list[Row]:
        work = {}
        for c in self.rows:
            m, n, k = c.shape()
            work[c.case()] = 2e-9 * m * n * k
        found = shop.drive("drive-contractions", list(work))
        return [self.row("f64", x.case.partition(":")[0], x, work[x.case]) for x in found]
