#include "layer.h"

void layer(int batch, int n_in, int n_out, float x[batch][n_in], float w[n_in][n_out], float bias[n_out],
           float y[batch][n_out])
{
#pragma scop
    for (int b = 0; b < batch; b++)
        for (int o = 0; o < n_out; o++) {
            y[b][o] = bias[o];
            for (int i = 0; i < n_in; i++)
                y[b][o] += x[b][i] * w[i][o];
            y[b][o] = y[b][o] > 0 ? y[b][o] : 0;
        }
#pragma endscop
}
