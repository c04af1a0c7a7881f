"""The `CoreGrid` record, rows and columns of compute cores that take part, and its reader: `--threads` N, 1,N or R,8;
raises InputError for any other shape."""

from __future__ import annotations

from codegen.diagnostics import InputError, Loc
from codegen.record import record

CORES, SIDE = 64, 8


@record
class CoreGrid:
    """Rows and columns of cores. One row means a line of up to 64 cores; more rows have 8 columns each."""

    rows: int
    columns: int

    @property
    def count(self) -> int:
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"{self.rows},{self.columns}" if self.rows > 1 else str(self.columns)


def parse_grid(text: str) -> CoreGrid:
    """`N` for a line of N cores, `R,C` for a grid. Cores are used consecutively, so grids have full rows of 8."""
    parts = text.split(",")
    try:
        numbers = [int(p) for p in parts]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and 1 <= numbers[0] <= CORES:
        return CoreGrid(1, numbers[0])
    if len(numbers) == 2:
        rows, columns = numbers
        if rows == 1 and 1 <= columns <= CORES:
            return CoreGrid(1, columns)
        if 1 <= rows <= SIDE and columns == SIDE:
            return CoreGrid(rows, columns)
    raise InputError(
        "bad-threads",
        f"'{text}' is no grid of compute cores",
        Loc("--threads"),
        "give N (1 to 64), or R,8 with 1 to 8 rows: 16, 32, 64, 2,8, 4,8, 8,8",
    )
