"""Layers of neural networks as programs in C have them: pointers to rows, optional biases, masked triangles."""

from __future__ import annotations

from codegen.options import GenOptions
from tests.run.sources import run

HEAD = "#include <math.h>\n#include <stddef.h>\n"
LAYERS = {
    "attention": """
void attention(float *out, float *preatt, float *att, const float *inp, int B, int T, int C, int NH)
{
    int C3 = C * 3;
    int hs = C / NH;
    float scale = 1.0 / sqrtf(hs);
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *q = inp + b * T * C3 + t * C3 + h * hs;
                float *pre = preatt + b * NH * T * T + h * T * T + t * T;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *k = inp + b * T * C3 + t2 * C3 + h * hs + C;
                    float val = 0.0f;
                    for (int i = 0; i < hs; i++) val += q[i] * k[i];
                    pre[t2] = val * scale;
                }
            }
#pragma endscop
}
""",
    "gelu_backward": """
void gelu_backward(float *dinp, const float *inp, const float *dout, int N)
{
#pragma scop
    for (int i = 0; i < N; i++) {
        float x = inp[i];
        float cube = 0.044715f * x * x * x;
        float arg = 0.79788f * (x + cube);
        float th = tanhf(arg);
        float ch = coshf(arg);
        float g = 0.5f * (1.0f + th) + x * 0.5f * (1.0f / (ch * ch)) * 0.79788f * (1.0f +
        3.0f * 0.044715f * x * x);
        dinp[i] += g * dout[i];
    }
#pragma endscop
}
""",
    "layernorm": """
void layernorm(float *out, float *mean, float *rstd, const float *inp, const float *weight,
    const float *bias, int B, int T, int C)
{
    float eps = 1e-5f;
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *x = inp + b * T * C + t * C;
            float m = 0.0f;
            for (int i = 0; i < C; i++)
                m += x[i];
            m = m / C;
            float v = 0.0f;
            for (int i = 0; i < C; i++) {
                float d = x[i] - m;
                v += d * d;
            }
            v = v / C;
            float s = 1.0f / sqrtf(v + eps);
            float *o = out + b * T * C + t * C;
            for (int i = 0; i < C; i++) {
                float n = s * (x[i] - m);
                o[i] = n * weight[i] + bias[i];
            }
            mean[b * T + t] = m;
            rstd[b * T + t] = s;
        }
    }
#pragma endscop
}
""",
    "matmul": """
void matmul(float *out, const float *inp, const float *weight, const float *bias, int B, int T,
    int C, int OC)
{
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            int bt = b * T + t;
            for (int o = 0; o < OC; o++) {
                float val = (bias != NULL) ? bias[o] : 0.0f;
                for (int i = 0; i < C; i++)
                    val += inp[bt * C + i] * weight[o * C + i];
                out[bt * OC + o] = val;
            }
        }
    }
#pragma endscop
}
""",
    "matmul_backward": """
void matmul_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
    const float *weight, int B, int T, int C, int OC)
{
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            const float *d = dout + b * T * OC + t * OC;
            float *di = dinp + b * T * C + t * C;
            for (int o = 0; o < OC; o++) {
                const float *w = weight + o * C;
                float g = d[o];
                for (int i = 0; i < C; i++) di[i] += w[i] * g;
            }
        }
    for (int o = 0; o < OC; o++)
        for (int b = 0; b < B; b++)
            for (int t = 0; t < T; t++) {
                const float *d = dout + b * T * OC + t * OC;
                const float *x = inp + b * T * C + t * C;
                float *dw = dweight + o * C;
                float g = d[o];
                if (dbias != 0) dbias[o] += g;
                for (int i = 0; i < C; i++) dw[i] += x[i] * g;
            }
#pragma endscop
}
""",
    "softmax": """
void softmax(float *probs, const float *logits, int B, int T, int V, int Vp)
{
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            const float *l = logits + b * T * Vp + t * Vp;
            float *p = probs + b * T * Vp + t * Vp;
            float maxval = -10000.0f;
            for (int i = 0; i < V; i++)
                if (l[i] > maxval) maxval = l[i];
            float sum = 0.0f;
            for (int i = 0; i < V; i++) {
                p[i] = expf(l[i] - maxval);
                sum += p[i];
            }
            for (int i = 0; i < V; i++) p[i] /= sum;
            for (int i = V; i < Vp; i++) p[i] = 0.0f;
        }
#pragma endscop
}
""",
}


def test_layers_agree() -> None:
    """All of them as one file, which is compiled once."""
    report = run(HEAD + "".join(LAYERS.values()), GenOptions(target="c"))
    assert report.ok, report.lines
    for name, line in zip(LAYERS, report.lines, strict=True):
        assert "size vectors agree" in line, (name, line)
