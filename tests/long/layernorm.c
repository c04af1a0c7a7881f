/* A block of a transformer, forward and backward, in one function: normalizations, projections, an activation. */
#include <math.h>

void block(int B, int T, int C, float eps, float out[B][T][C], float mean[B][T], float rstd[B][T], float inp[B][T][C],
           float weight[C], float bias[C], float dinp[B][T][C], float dweight[C], float dbias[C], float dout[B][T][C],
           float w[C][C], float dw[C][C], float act[B][T][C], float dact[B][T][C])
{
#pragma scop
    for (int b = 0; b < B; b++) { /* normalization 0 */
        for (int t = 0; t < T; t++) {
            float m0 = 0.0f;
            for (int i = 0; i < C; i++)
                m0 += inp[b][t][i];
            m0 = m0 / C;
            float v0 = 0.0f;
            for (int i = 0; i < C; i++) {
                float shift0 = inp[b][t][i] - m0;
                v0 += shift0 * shift0;
            }
            v0 = v0 / C;
            float s0 = 1.0f / sqrtf(v0 + eps);
            for (int i = 0; i < C; i++) {
                float n0 = s0 * (inp[b][t][i] - m0);
                out[b][t][i] = n0 * weight[i] + bias[i];
            }
            mean[b][t] = m0;
            rstd[b][t] = s0;
        }
    }
    for (int b = 0; b < B; b++) /* projection 0 */
        for (int t = 0; t < T; t++)
            for (int o = 0; o < C; o++) {
                act[b][t][o] = bias[o];
                for (int i = 0; i < C; i++)
                    act[b][t][o] += out[b][t][i] * w[o][i];
            }
    for (int b = 0; b < B; b++) /* activation and what passes it by */
        for (int t = 0; t < T; t++)
            for (int i = 0; i < C; i++) {
                float x0 = act[b][t][i];
                float cube0 = 0.044715f * x0 * x0 * x0;
                inp[b][t][i] += 0.5f * x0 * (1.0f + tanhf(0.797884f * (x0 + cube0)));
            }
    for (int b = 0; b < B; b++) { /* normalization 1 */
        for (int t = 0; t < T; t++) {
            float m1 = 0.0f;
            for (int i = 0; i < C; i++)
                m1 += inp[b][t][i];
            m1 = m1 / C;
            float v1 = 0.0f;
            for (int i = 0; i < C; i++) {
                float shift1 = inp[b][t][i] - m1;
                v1 += shift1 * shift1;
            }
            v1 = v1 / C;
            float s1 = 1.0f / sqrtf(v1 + eps);
            for (int i = 0; i < C; i++) {
                float n1 = s1 * (inp[b][t][i] - m1);
                out[b][t][i] = n1 * weight[i] + bias[i];
            }
            mean[b][t] = m1;
            rstd[b][t] = s1;
        }
    }
    for (int b = 0; b < B; b++) /* projection 1 */
        for (int t = 0; t < T; t++)
            for (int o = 0; o < C; o++) {
                act[b][t][o] = bias[o];
                for (int i = 0; i < C; i++)
                    act[b][t][o] += out[b][t][i] * w[o][i];
            }
    for (int b = 0; b < B; b++) /* activation and what passes it by */
        for (int t = 0; t < T; t++)
            for (int i = 0; i < C; i++) {
                float x1 = act[b][t][i];
                float cube1 = 0.044715f * x1 * x1 * x1;
                inp[b][t][i] += 0.5f * x1 * (1.0f + tanhf(0.797884f * (x1 + cube1)));
            }
    for (int b = 0; b < B; b++) { /* normalization 2 */
        for (int t = 0; t < T; t++) {
            float m2 = 0.0f;
            for (int i = 0; i < C; i++)
                m2 += inp[b][t][i];
            m2 = m2 / C;
            float v2 = 0.0f;
            for (int i = 0; i < C; i++) {
                float shift2 = inp[b][t][i] - m2;
                v2 += shift2 * shift2;
            }
            v2 = v2 / C;
            float s2 = 1.0f / sqrtf(v2 + eps);
            for (int i = 0; i < C; i++) {
                float n2 = s2 * (inp[b][t][i] - m2);
                out[b][t][i] = n2 * weight[i] + bias[i];
            }
            mean[b][t] = m2;
            rstd[b][t] = s2;
        }
    }
    for (int b = 0; b < B; b++) /* projection 2 */
        for (int t = 0; t < T; t++)
            for (int o = 0; o < C; o++) {
                act[b][t][o] = bias[o];
                for (int i = 0; i < C; i++)
                    act[b][t][o] += out[b][t][i] * w[o][i];
            }
    for (int b = 0; b < B; b++) /* activation and what passes it by */
        for (int t = 0; t < T; t++)
            for (int i = 0; i < C; i++) {
                float x2 = act[b][t][i];
                float cube2 = 0.044715f * x2 * x2 * x2;
                inp[b][t][i] += 0.5f * x2 * (1.0f + tanhf(0.797884f * (x2 + cube2)));
            }
    for (int b = 0; b < B; b++) { /* normalization, backward */
        for (int t = 0; t < T; t++) {
            float d0 = 0.0f;
            float e0 = 0.0f;
            for (int i = 0; i < C; i++) {
                float g0 = weight[i] * dout[b][t][i];
                float h0 = (inp[b][t][i] - mean[b][t]) * rstd[b][t];
                d0 += g0;
                e0 += g0 * h0;
            }
            d0 = d0 / C;
            e0 = e0 / C;
            for (int i = 0; i < C; i++) {
                float h0b = (inp[b][t][i] - mean[b][t]) * rstd[b][t];
                float g0b = weight[i] * dout[b][t][i];
                dbias[i] += dout[b][t][i];
                dweight[i] += h0b * dout[b][t][i];
                float v0b = 0.0f;
                v0b += g0b;
                v0b -= d0;
                v0b -= h0b * e0;
                v0b *= rstd[b][t];
                dinp[b][t][i] += v0b;
            }
        }
    }
    for (int b = 0; b < B; b++) /* projection, backward: to what went in */
        for (int t = 0; t < T; t++)
            for (int o = 0; o < C; o++)
                for (int i = 0; i < C; i++)
                    dact[b][t][i] += w[o][i] * dinp[b][t][o];
    for (int o = 0; o < C; o++) /* and to the weights */
        for (int b = 0; b < B; b++)
            for (int t = 0; t < T; t++)
                for (int i = 0; i < C; i++)
                    dw[o][i] += act[b][t][i] * dinp[b][t][o];
    for (int b = 0; b < B; b++) /* activation, backward */
        for (int t = 0; t < T; t++)
            for (int i = 0; i < C; i++) {
                float y0 = act[b][t][i];
                float q0 = tanhf(0.797884f * (y0 + 0.044715f * y0 * y0 * y0));
                dout[b][t][i] = dact[b][t][i] * (0.5f * (1.0f + q0) + y0 * (1.0f - q0 * q0));
            }
    for (int b = 0; b < B; b++) { /* normalization, backward */
        for (int t = 0; t < T; t++) {
            float d1 = 0.0f;
            float e1 = 0.0f;
            for (int i = 0; i < C; i++) {
                float g1 = weight[i] * dout[b][t][i];
                float h1 = (inp[b][t][i] - mean[b][t]) * rstd[b][t];
                d1 += g1;
                e1 += g1 * h1;
            }
            d1 = d1 / C;
            e1 = e1 / C;
            for (int i = 0; i < C; i++) {
                float h1b = (inp[b][t][i] - mean[b][t]) * rstd[b][t];
                float g1b = weight[i] * dout[b][t][i];
                dbias[i] += dout[b][t][i];
                dweight[i] += h1b * dout[b][t][i];
                float v1b = 0.0f;
                v1b += g1b;
                v1b -= d1;
                v1b -= h1b * e1;
                v1b *= rstd[b][t];
                dinp[b][t][i] += v1b;
            }
        }
    }
    for (int b = 0; b < B; b++) /* projection, backward: to what went in */
        for (int t = 0; t < T; t++)
            for (int o = 0; o < C; o++)
                for (int i = 0; i < C; i++)
                    dact[b][t][i] += w[o][i] * dinp[b][t][o];
    for (int o = 0; o < C; o++) /* and to the weights */
        for (int b = 0; b < B; b++)
            for (int t = 0; t < T; t++)
                for (int i = 0; i < C; i++)
                    dw[o][i] += act[b][t][i] * dinp[b][t][o];
    for (int b = 0; b < B; b++) /* activation, backward */
        for (int t = 0; t < T; t++)
            for (int i = 0; i < C; i++) {
                float y1 = act[b][t][i];
                float q1 = tanhf(0.797884f * (y1 + 0.044715f * y1 * y1 * y1));
                dout[b][t][i] = dact[b][t][i] * (0.5f * (1.0f + q1) + y1 * (1.0f - q1 * q1));
            }
#pragma endscop
}
