/* Every letter looks at those before it: queries, keys and values lie beside each other in rows of 3 C. */
#include <math.h>

#include "net.h"

void attention_forward(float *out, float *preatt, float *att, const float *inp, int B, int T, int C, int NH)
{
    int C3 = C * 3, hs = C / NH;
    float scale = 1.0f / sqrtf((float)hs);

    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *query = inp + b * T * C3 + t * C3 + h * hs;
                float *pre = preatt + b * NH * T * T + h * T * T + t * T;
                float *row = att + b * NH * T * T + h * T * T + t * T;
                float *out_bth = out + b * T * C + t * C + h * hs;
                float maxval = -10000.0f, sum = 0.0f, inverse;

                for (int t2 = 0; t2 <= t; t2++) {
                    const float *key = inp + b * T * C3 + t2 * C3 + h * hs + C;
                    float val = 0.0f;
                    for (int i = 0; i < hs; i++)
                        val += query[i] * key[i];
                    val *= scale;
                    if (val > maxval)
                        maxval = val;
                    pre[t2] = val;
                }
                for (int t2 = 0; t2 <= t; t2++) {
                    float e = expf(pre[t2] - maxval);
                    sum += e;
                    row[t2] = e;
                }
                inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
                for (int t2 = 0; t2 < T; t2++) {
                    if (t2 <= t)
                        row[t2] *= inverse;
                    else
                        row[t2] = 0.0f;
                }
                for (int i = 0; i < hs; i++)
                    out_bth[i] = 0.0f;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *val = inp + b * T * C3 + t2 * C3 + h * hs + 2 * C;
                    float a = row[t2];
                    for (int i = 0; i < hs; i++)
                        out_bth[i] += a * val[i];
                }
            }
}

void attention_backward(float *dinp, float *dpreatt, float *datt, const float *dout, const float *inp,
                        const float *att, int B, int T, int C, int NH)
{
    int C3 = C * 3, hs = C / NH;
    float scale = 1.0f / sqrtf((float)hs);

    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *row = att + b * NH * T * T + h * T * T + t * T;
                float *drow = datt + b * NH * T * T + h * T * T + t * T;
                float *dpre = dpreatt + b * NH * T * T + h * T * T + t * T;
                const float *query = inp + b * T * C3 + t * C3 + h * hs;
                float *dquery = dinp + b * T * C3 + t * C3 + h * hs;
                const float *dout_bth = dout + b * T * C + t * C + h * hs;

                for (int t2 = 0; t2 <= t; t2++) {
                    const float *val = inp + b * T * C3 + t2 * C3 + h * hs + 2 * C;
                    float *dval = dinp + b * T * C3 + t2 * C3 + h * hs + 2 * C;
                    for (int i = 0; i < hs; i++) {
                        drow[t2] += val[i] * dout_bth[i];
                        dval[i] += row[t2] * dout_bth[i];
                    }
                }
                for (int t2 = 0; t2 <= t; t2++)
                    for (int t3 = 0; t3 <= t; t3++) {
                        float same = t2 == t3 ? 1.0f : 0.0f;
                        dpre[t3] += row[t2] * (same - row[t3]) * drow[t2];
                    }
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *key = inp + b * T * C3 + t2 * C3 + h * hs + C;
                    float *dkey = dinp + b * T * C3 + t2 * C3 + h * hs + C;
                    for (int i = 0; i < hs; i++) {
                        dquery[i] += key[i] * dpre[t2] * scale;
                        dkey[i] += query[i] * dpre[t2] * scale;
                    }
                }
            }
}
