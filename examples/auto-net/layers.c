/* Layers, forward and backward. Gradients are added to what is there. */
#include <math.h>

#include "net.h"

#define GELU_SCALE 0.7978845608f

void encoder_forward(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C)
{
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            float *out_bt = out + b * T * C + t * C;
            const float *letter = wte + inp[b * T + t] * C;
            const float *place = wpe + t * C;
            for (int i = 0; i < C; i++)
                out_bt[i] = letter[i] + place[i];
        }
    }
}

void encoder_backward(float *dwte, float *dwpe, const float *dout, const int *inp, int B, int T, int C)
{
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *dout_bt = dout + b * T * C + t * C;
            float *dletter = dwte + inp[b * T + t] * C;
            float *dplace = dwpe + t * C;
            for (int i = 0; i < C; i++) {
                dletter[i] += dout_bt[i];
                dplace[i] += dout_bt[i];
            }
        }
    }
}

void layernorm_forward(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                       int B, int T, int C)
{
    float eps = 1e-5f;

    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *x = inp + b * T * C + t * C;
            float *out_bt = out + b * T * C + t * C;
            float m = 0.0f, v = 0.0f, s;
            for (int i = 0; i < C; i++)
                m += x[i];
            m = m / C;
            for (int i = 0; i < C; i++) {
                float d = x[i] - m;
                v += d * d;
            }
            v = v / C;
            s = 1.0f / sqrtf(v + eps);
            for (int i = 0; i < C; i++)
                out_bt[i] = s * (x[i] - m) * weight[i] + bias[i];
            mean[b * T + t] = m;
            rstd[b * T + t] = s;
        }
    }
}

void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                        const float *weight, const float *mean, const float *rstd, int B, int T, int C)
{
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *dout_bt = dout + b * T * C + t * C;
            const float *x = inp + b * T * C + t * C;
            float *dinp_bt = dinp + b * T * C + t * C;
            float m = mean[b * T + t], s = rstd[b * T + t];
            float sum = 0.0f, sum_norm = 0.0f;
            for (int i = 0; i < C; i++) {
                float norm = (x[i] - m) * s;
                float dnorm = weight[i] * dout_bt[i];
                sum += dnorm;
                sum_norm += dnorm * norm;
            }
            sum = sum / C;
            sum_norm = sum_norm / C;
            for (int i = 0; i < C; i++) {
                float norm = (x[i] - m) * s;
                float dnorm = weight[i] * dout_bt[i];
                dbias[i] += dout_bt[i];
                dweight[i] += norm * dout_bt[i];
                dinp_bt[i] += (dnorm - sum - norm * sum_norm) * s;
            }
        }
    }
}

/* out (N, OC) = inp (N, C) times weight (OC, C), turned; there may be no bias. */
void linear_forward(float *out, const float *inp, const float *weight, const float *bias, int N, int C, int OC)
{
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < OC; o++) {
            float val = bias ? bias[o] : 0.0f;
            for (int i = 0; i < C; i++)
                val += inp[n * C + i] * weight[o * C + i];
            out[n * OC + o] = val;
        }
    }
}

void linear_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                     const float *weight, int N, int C, int OC)
{
    for (int n = 0; n < N; n++)
        for (int o = 0; o < OC; o++)
            for (int i = 0; i < C; i++)
                dinp[n * C + i] += weight[o * C + i] * dout[n * OC + o];
    for (int o = 0; o < OC; o++)
        for (int n = 0; n < N; n++)
            for (int i = 0; i < C; i++)
                dweight[o * C + i] += inp[n * C + i] * dout[n * OC + o];
    if (dbias)
        for (int n = 0; n < N; n++)
            for (int o = 0; o < OC; o++)
                dbias[o] += dout[n * OC + o];
}

void gelu_forward(float *out, const float *inp, int n)
{
    for (int i = 0; i < n; i++) {
        float x = inp[i], cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(GELU_SCALE * (x + cube)));
    }
}

void gelu_backward(float *dinp, const float *inp, const float *dout, int n)
{
    for (int i = 0; i < n; i++) {
        float x = inp[i], cube = 0.044715f * x * x * x;
        float t = tanhf(GELU_SCALE * (x + cube));
        float local = 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * GELU_SCALE * (1.0f + 3.0f * 0.044715f * x * x);
        dinp[i] += local * dout[i];
    }
}

void residual_forward(float *out, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

void residual_backward(float *da, float *db, const float *dout, int n)
{
    for (int i = 0; i < n; i++) {
        da[i] += dout[i];
        db[i] += dout[i];
    }
}
