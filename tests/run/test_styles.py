"""Nests as codecs, image libraries and particle codes have them: pointers that move, sums in structs, rows past a ring
of cells, counters that go down. All are transformed, and compute what the source computes."""

from __future__ import annotations

import pytest

import codegen

NESTS = {
    "lags": """
void lags(const float *x, float *ac, int lag, int n)
{
    float d;
    int i;
#pragma scop
    while (lag >= 0) {
        for (i = lag, d = 0; i < n; i++)
            d += x[i] * x[i - lag];
        ac[lag] = d;
        lag--;
    }
#pragma endscop
}
""",
    "channels": """
void channels(const short *pcm, float **ch, int frames, int channels)
{
#pragma scop
    for (int c = 0; c < channels; c++) {
        float *dst = ch[c];
        const short *src = pcm + c;
        for (int i = 0; i < frames; i++) {
            dst[i] = *src * (1.0f / 32768.0f);
            src += channels;
        }
    }
#pragma endscop
}
""",
    "forces": """
typedef struct { double x, y; } vec2;
void forces(int n, const vec2 *pos, vec2 *force, double cut2)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        vec2 f = {0, 0};
        for (int j = 0; j < n; j++) {
            double dx = pos[i].x - pos[j].x, dy = pos[i].y - pos[j].y;
            double r2 = dx * dx + dy * dy;
            if (r2 < cut2 && j != i) {
                double s = 1.0 / (r2 * r2);
                f.x += s * dx;
                f.y += s * dy;
            }
        }
        force[i] = f;
    }
#pragma endscop
}
""",
    "relax": """
void relax(double *f, const double *equal, const char *solid, int nx, int ny, int nz, double omega)
{
#pragma scop
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                if (solid[(z * ny + y) * nx + x])
                    continue;
                for (int q = 0; q < 19; q++) {
                    double *p = &f[((z * ny + y) * nx + x) * 19 + q];
                    *p = *p - omega * (*p - equal[((z * ny + y) * nx + x) * 19 + q]);
                }
            }
#pragma endscop
}
""",
    "ring": """
#define AT(j, k, w, xo, yo) ((w) * ((k) - (yo)) + (j) - (xo))
void ring(int x_min, int x_max, int y_min, int y_max, int depth, double *field)
{
#pragma scop
    for (int k = y_min - depth; k <= y_max + depth; k++)
        for (int j = 1; j <= depth; j++)
            field[AT(1 - j, k, x_max + 4, x_min - 2, y_min - 2)] = field[AT(j, k, x_max + 4, x_min - 2, y_min - 2)];
#pragma endscop
}
""",
    "inverse": """
static int points[3];
static double u[20][20][20], v[20][20][20], w[20][20][20];
void inverse(void)
{
    int i, j, k;
    double one;
#pragma scop
    for (k = 0; k <= points[2] - 1; k++) {
        for (j = 0; j <= points[1] - 1; j++) {
            for (i = 0; i <= points[0] - 1; i++) {
                one = 1.0 / u[k][j][i];
                v[k][j][i] = one;
                w[k][j][i] = u[k][j][i] * one;
            }
        }
    }
#pragma endscop
}
""",
    "keys": """
void keys(float *att, const float *qkv, int B, int T, int C, int C3, int NH, int hs)
{
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *query = qkv + b * T * C3 + t * C3 + h * hs;
                float *row = att + b * NH * T * T + h * T * T + t * T;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *key = qkv + b * T * C3 + t2 * C3 + h * hs + C;
                    float val = 0.0f;
                    for (int i = 0; i < hs; i++)
                        val += query[i] * key[i];
                    row[t2] = val;
                }
            }
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", NESTS)
def test_nests_are_transformed_and_agree(name: str) -> None:
    found = codegen.check(NESTS[name].lstrip(), name=f"{name}.c")
    assert found.ok and " size vectors agree" in found.lines[0]
