/* Plain loops over compressed rows, as one writes them from the notation: peers of the sparse benchmark. */
#include <stdint.h>
#include <stdlib.h>
#include <omp.h>

void set_threads(int n)
{
    omp_set_num_threads(n);
}

void plain_spmv(int64_t n, const int32_t *restrict ptr, const int32_t *restrict col, const double *restrict val,
                const double *restrict x, double *restrict y)
{
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t p = ptr[i]; p < ptr[i + 1]; p++)
            sum += val[p] * x[col[p]];
        y[i] = sum;
    }
}

void plain_spmm(int64_t n, int64_t w, const int32_t *restrict ptr, const int32_t *restrict col,
                const double *restrict val, const double *restrict x, double *restrict y)
{
    for (int64_t z = 0; z < n * w; z++)
        y[z] = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
            const int64_t j = col[p];
            for (int64_t k = 0; k < w; k++)
                y[i * w + k] += val[p] * x[j * w + k];
        }
}

void plain_sddmm(int64_t n, int64_t w, const int32_t *restrict ptr, const int32_t *restrict col,
                 const double *restrict val, const double *restrict x, const double *restrict y, double *restrict out)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t p = ptr[i]; p < ptr[i + 1]; p++) {
            const int64_t j = col[p];
            double sum = 0;
            for (int64_t k = 0; k < w; k++)
                sum += x[i * w + k] * y[j * w + k];
            out[p] = val[p] * sum;
        }
}

/* The diagonal is the last entry of each row. */
void plain_solve(int64_t n, const int32_t *restrict ptr, const int32_t *restrict col, const double *restrict val,
                 const double *restrict b, double *restrict x)
{
    for (int32_t i = 0; i < n; i++) {
        double sum = b[i];
        for (int32_t p = ptr[i]; p < ptr[i + 1] - 1; p++)
            sum -= val[p] * x[col[p]];
        x[i] = sum / val[ptr[i + 1] - 1];
    }
}

int64_t plain_add(int64_t n, const int32_t *restrict ap, const int32_t *restrict ac, const double *restrict av,
                  const int32_t *restrict bp, const int32_t *restrict bc, const double *restrict bv,
                  int32_t *restrict cp, int32_t *restrict cc, double *restrict cv)
{
    int32_t at = 0;
    cp[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t p = ap[i], q = bp[i];
        while (p < ap[i + 1] && q < bp[i + 1]) {
            const int32_t left = ac[p], right = bc[q], j = left < right ? left : right;
            if (left == j && right == j)
                cv[at] = av[p] + bv[q];
            else if (left == j)
                cv[at] = av[p];
            else
                cv[at] = bv[q];
            cc[at++] = j;
            p += left == j;
            q += right == j;
        }
        for (; p < ap[i + 1]; p++) {
            cc[at] = ac[p];
            cv[at++] = av[p];
        }
        for (; q < bp[i + 1]; q++) {
            cc[at] = bc[q];
            cv[at++] = bv[q];
        }
        cp[i + 1] = at;
    }
    return at;
}

int64_t plain_multiply(int64_t n, const int32_t *restrict ap, const int32_t *restrict ac, const double *restrict av,
                       const int32_t *restrict bp, const int32_t *restrict bc, const double *restrict bv,
                       int32_t *restrict cp, int32_t *restrict cc, double *restrict cv)
{
    int32_t at = 0;
    cp[0] = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t p = ap[i], q = bp[i];
        while (p < ap[i + 1] && q < bp[i + 1]) {
            const int32_t left = ac[p], right = bc[q], j = left < right ? left : right;
            if (left == j && right == j) {
                cv[at] = av[p] * bv[q];
                cc[at++] = j;
            }
            p += left == j;
            q += right == j;
        }
        cp[i + 1] = at;
    }
    return at;
}

void plain_mttkrp(int64_t fibres, int64_t w, const int32_t *restrict i, const int32_t *restrict p0,
                  const int32_t *restrict j, const int32_t *restrict p1, const int32_t *restrict k,
                  const double *restrict val, const double *restrict b, const double *restrict c, double *restrict m)
{
    double *sum = malloc((size_t)w * sizeof *sum);
    for (int32_t f = 0; f < fibres; f++)
        for (int32_t p = p0[f]; p < p0[f + 1]; p++) {
            for (int64_t r = 0; r < w; r++)
                sum[r] = 0;
            for (int32_t q = p1[p]; q < p1[p + 1]; q++)
                for (int64_t r = 0; r < w; r++)
                    sum[r] += val[q] * c[k[q] * w + r];
            for (int64_t r = 0; r < w; r++)
                m[i[f] * w + r] += sum[r] * b[j[p] * w + r];
        }
    free(sum);
}
