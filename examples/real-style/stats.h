/* Statistics on tables of observations: n rows, one column per variable. */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>

typedef struct {
    size_t rows, cols, stride;
    double *values;
} table;

void column_moments(const table *t, double *mean, double *variance);
void covariance(const double *data, int n, int d, const double *mean, double *cov);
void kmeans_assign(const float *points, const float *centers, int n, int k, int d, int *label, float *cost);
void kmeans_update(const float *points, const int *label, int n, int k, int d, float *centers, int *size);
void moving_average(const double *x, double *y, int n, int window);
void standardize(); /* double *x, int n, int d, double *mean, double *deviation */
void extremes(int n, int d, const double *x, double *lowest, double *highest, int *where);
void normal_equations(int n, int p, double **x, const double *y, double **xtx, double *xty);
void exponential_smoothing(int series, int length, const double *x, double *s, double alpha);

#endif
