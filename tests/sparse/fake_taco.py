"""Stands for TACO's command: writes C for a copy of row-sorted coordinates into compressed rows, refuses the rest."""
from __future__ import annotations

import sys
from pathlib import Path

KERNEL = """
#include <stdint.h>
#include <stdlib.h>
typedef enum { taco_mode_dense, taco_mode_sparse } taco_mode_t;
typedef struct {
    int32_t order, *dimensions, csize, *mode_ordering;
    taco_mode_t *mode_types;
    uint8_t ***indices, *vals;
    int32_t vals_size;
} taco_tensor_t;
int assemble(taco_tensor_t *A, taco_tensor_t *B)
{
    int32_t rows = A->dimensions[0], n = ((int32_t *)B->indices[0][0])[1], *row = (int32_t *)B->indices[0][1];
    int32_t *pos = calloc(rows + 1, sizeof *pos), *crd = malloc(n * sizeof *crd);
    for (int32_t k = 0; k < n; k++) {
        pos[row[k] + 1]++;
        crd[k] = ((int32_t *)B->indices[1][1])[k];
    }
    for (int32_t i = 0; i < rows; i++)
        pos[i + 1] += pos[i];
    A->indices[1][0] = (uint8_t *)pos;
    A->indices[1][1] = (uint8_t *)crd;
    A->vals = malloc(n * sizeof(double));
    return 0;
}
int compute(taco_tensor_t *A, taco_tensor_t *B)
{
    for (int32_t k = 0; k < ((int32_t *)A->indices[1][0])[A->dimensions[0]]; k++)
        ((double *)A->vals)[k] = ((double *)B->vals)[k];
    return 0;
}
"""


def main() -> int:
    expression, *rest = sys.argv[1:]
    options = dict(x.split("=", 1) for x in rest if x.startswith("-write-source"))
    if expression != "A(i,j)=B(i,j)" or "-f=A:ds" not in rest or "-f=B:uq" not in rest:
        print("Error: cannot", file=sys.stderr)
        return 3
    Path(options["-write-source"]).write_text(KERNEL, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
