#include "stats.h"

#define SQR(x) ((x) * (x))

/* Mean and variance of each column, in two passes. */
void column_moments(const table *t, double *mean, double *variance)
{
    for (size_t j = 0; j < t->cols; j++) {
        mean[j] = 0;
        variance[j] = 0;
    }
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            mean[j] += t->values[i * t->stride + j];
    for (size_t j = 0; j < t->cols; j++)
        mean[j] /= (double)t->rows;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->cols; j++)
            variance[j] += SQR(t->values[i * t->stride + j] - mean[j]);
    for (size_t j = 0; j < t->cols; j++)
        variance[j] /= (double)(t->rows - 1);
}

/* The lower half is computed, the upper one copied. */
void covariance(const double *data, int n, int d, const double *mean, double *cov)
{
    int i, j, r;
    double sum;
    for (i = 0; i < d; i++) {
        for (j = 0; j <= i; j++) {
            sum = 0.0;
            for (r = 0; r < n; r++)
                sum += (data[r * d + i] - mean[i]) * (data[r * d + j] - mean[j]);
            cov[i * d + j] = sum / (n - 1);
            cov[j * d + i] = cov[i * d + j];
        }
    }
}

/* The nearest centre of every point, and how far away it is. */
void kmeans_assign(const float *points, const float *centers, int n, int k, int d, int *label, float *cost)
{
    for (int i = 0; i < n; i++) {
        const float *p = points + i * d;
        int best = 0;
        float least = 3.4e38f;
        for (int c = 0; c < k; c++) {
            const float *q = centers + c * d;
            float dist = 0;
            for (int j = 0; j < d; j++)
                dist += (p[j] - q[j]) * (p[j] - q[j]);
            if (dist < least) {
                least = dist;
                best = c;
            }
        }
        label[i] = best;
        cost[i] = least;
    }
}

/* Centres are the means of what belongs to them; those without points stay. */
void kmeans_update(const float *points, const int *label, int n, int k, int d, float *centers, int *size)
{
    int c, i, j;
    for (c = 0; c < k; c++) {
        size[c] = 0;
        for (i = 0; i < n; i++)
            if (label[i] == c)
                size[c]++;
        if (size[c] == 0)
            continue;
        for (j = 0; j < d; j++) {
            float sum = 0;
            for (i = 0; i < n; i++)
                if (label[i] == c)
                    sum += points[i * d + j];
            centers[c * d + j] = sum / size[c];
        }
    }
}

/* Mean of the last `window` values, or of those that there are. */
void moving_average(const double *x, double *y, int n, int window)
{
    int i, k, first;
    for (i = 0; i < n; i++) {
        double sum = 0;
        first = i - window + 1;
        if (first < 0)
            first = 0;
        for (k = first; k <= i; k++)
            sum += x[k];
        y[i] = sum / (i - first + 1);
    }
}

/* Columns of mean 0 and deviation 1, as it was written forty years ago. */
void standardize(x, n, d, mean, deviation)
double *x;
int n, d;
double *mean, *deviation;
{
    int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < d; j++)
            if (deviation[j] > 1e-12)
                x[i * d + j] = (x[i * d + j] - mean[j]) / deviation[j];
            else
                x[i * d + j] = 0;
}

/* Least and greatest of each row, and where the greatest stands. */
void extremes(int n, int d, const double *x, double *lowest, double *highest, int *where)
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        lowest[i] = highest[i] = x[i * d];
        where[i] = 0;
        for (j = 1; j < d; j++) {
            if (x[i * d + j] < lowest[i])
                lowest[i] = x[i * d + j];
            if (x[i * d + j] > highest[i]) {
                highest[i] = x[i * d + j];
                where[i] = j;
            }
        }
    }
#pragma endscop
}

/* X'X and X'y of a least-squares fit, row pointers throughout. */
void normal_equations(int n, int p, double **x, const double *y, double **xtx, double *xty)
{
    int a, b, i;
    for (a = 0; a < p; a++) {
        xty[a] = 0.0;
        for (b = 0; b < p; b++)
            xtx[a][b] = 0.0;
    }
    for (i = 0; i < n; i++)
        for (a = 0; a < p; a++) {
            xty[a] += x[i][a] * y[i];
            for (b = 0; b < p; b++)
                xtx[a][b] += x[i][a] * x[i][b];
        }
}

/* Many series at once, each weighted by how long ago it was. */
void exponential_smoothing(int series, int length, const double *x, double *s, double alpha)
{
    for (int k = 0; k < series; k++) {
        s[k * length] = x[k * length];
        for (int t = 1; t < length; t++)
            s[k * length + t] = alpha * x[k * length + t] + (1 - alpha) * s[k * length + t - 1];
    }
}

