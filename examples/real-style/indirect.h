/* Subscripts and bounds that are read from memory: embeddings, tables, histograms, sparse matrices. */
#ifndef INDIRECT_H
#define INDIRECT_H

typedef struct {
    int rows, *start, *column;
    double *value;
} sparse;

void embed(float *out, const int *token, const float *words, const float *places, int B, int T, int C);
void embed_backward(float *dwords, float *dplaces, const float *dout, const int *token, int B, int T, int C);
void cross_entropy(float *loss, const float *probs, const int *target, int B, int T, int V);
void cross_entropy_backward(float *dlogits, const float *probs, const int *target, float scale, int N, int V);
void apply_curve(const unsigned char *src, unsigned char *dst, int w, int h, int stride, const unsigned char *curve);
void row_histograms(const unsigned char *image, int w, int h, int (*count)[16]);
void sparse_times_vector(const sparse *a, const double *x, double *y);
void sparse_residual(const sparse *a, const double *restrict x, const double *b, double *restrict r, double *norm);
void gather_rows(const double *from, const int *which, int n, int d, double *to);
void warp(const float *src, float *dst, int w, int h, const float *map_x, const float *map_y);

#endif
