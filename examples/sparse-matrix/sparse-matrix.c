/* Read a matrix, multiply it with a vector through generated code, verify. */
#include "multiply.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int room(coo_f64_i32 *a, int64_t entries)
{
    a->row = malloc((size_t)(entries + 1) * sizeof *a->row);
    a->col = malloc((size_t)(entries + 1) * sizeof *a->col);
    a->val = malloc((size_t)(entries + 1) * sizeof *a->val);
    return a->row && a->col && a->val;
}

static void add(coo_f64_i32 *a, long i, long j, double v)
{
    a->row[a->NNZ] = (int32_t)i;
    a->col[a->NNZ] = (int32_t)j;
    a->val[a->NNZ++] = v;
}

/* The matrix of the Laplace equation on a grid of n x n points. */
static int laplace(coo_f64_i32 *a, long n)
{
    *a = (coo_f64_i32){.NR = n * n, .NC = n * n};
    if (!room(a, 5 * n * n))
        return 0;
    for (long y = n - 1; y >= 0; y--)
        for (long x = 0; x < n; x++) {
            long p = y * n + x;
            add(a, p, p, 4);
            if (x > 0)
                add(a, p, p - 1, -1);
            if (x < n - 1)
                add(a, p, p + 1, -1);
            if (y > 0)
                add(a, p, p - n, -1);
            if (y < n - 1)
                add(a, p, p + n, -1);
        }
    return 1;
}

static int read_matrix(coo_f64_i32 *a, const char *path)
{
    char line[1024], field[64] = "", symmetry[64] = "";
    long rows, cols, entries;
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    int ok = fgets(line, sizeof line, f) &&
             sscanf(line, "%%%%MatrixMarket matrix coordinate %63s %63s", field, symmetry) == 2;
    while (ok && (ok = fgets(line, sizeof line, f) != NULL) && line[0] == '%')
        ;
    ok = ok && sscanf(line, "%ld %ld %ld", &rows, &cols, &entries) == 3 && rows >= 0 && cols >= 0 && entries >= 0;
    if (ok) {
        *a = (coo_f64_i32){.NR = rows, .NC = cols};
        ok = room(a, 2 * entries);
    }
    for (long e = 0; ok && e < entries; e++) {
        long i, j;
        double v = 1;
        ok = fgets(line, sizeof line, f) != NULL;
        int found = ok ? sscanf(line, "%ld %ld %lf", &i, &j, &v) : 0;
        ok = found >= 2 && i >= 1 && i <= rows && j >= 1 && j <= cols;
        if (!ok)
            break;
        add(a, i - 1, j - 1, v);
        if (i != j && strcmp(symmetry, "general") != 0) /* only half of it is in the file */
            add(a, j - 1, i - 1, strcmp(symmetry, "skew-symmetric") ? v : -v);
    }
    fclose(f);
    return ok;
}

int main(int argc, char **argv)
{
    coo_f64_i32 a = {0};
    int status = 1;
    if (!(argc > 1 ? read_matrix(&a, argv[1]) : laplace(&a, 40))) {
        fprintf(stderr, "cannot read %s\n", argc > 1 ? argv[1] : "the matrix");
        coo_f64_i32_free(&a);
        return 1;
    }
    double *x = malloc((size_t)(a.NC + 1) * sizeof *x);
    double *y = malloc((size_t)(a.NR + 1) * sizeof *y);
    double *plain = calloc((size_t)a.NR + 1, sizeof *plain);
    double *size = calloc((size_t)a.NR + 1, sizeof *size);
    if (x && y && plain && size) {
        for (int64_t j = 0; j < a.NC; j++)
            x[j] = 1 + (double)(j % 7) / 8;
        for (int64_t n = 0; n < a.NNZ; n++) {
            plain[a.row[n]] += a.val[n] * x[a.col[n]];
            size[a.row[n]] += fabs(a.val[n] * x[a.col[n]]);
        }
        status = multiply(y, &a, x);
        double worst = 0;
        for (int64_t i = 0; status == TW_SPARSE_OK && i < a.NR; i++)
            worst = fmax(worst, fabs(y[i] - plain[i]) / fmax(size[i], 1e-300));
        if (status == TW_SPARSE_OK)
            status = !(worst <= 1e-12);
        printf("%lld x %lld, %lld entries: %s, largest error %.1e\n", (long long)a.NR, (long long)a.NC,
               (long long)a.NNZ, status ? "WRONG" : "right", worst);
    }
    free(x);
    free(y);
    free(plain);
    free(size);
    coo_f64_i32_free(&a);
    return status;
}
