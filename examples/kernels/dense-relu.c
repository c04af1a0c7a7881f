/* Two dense layers with bias and rectifier: y = relu(relu(x W1 + b1) W2 + b2).
 * sizes: small nb=20 ni=24 nh=28 no=16 | large nb=512 ni=512 nh=512 no=256
 * types: f64 f32 i32
 */
#include "kernels.h"

#define RELU(v) ((v) > 0 ? (v) : 0)

void kernel_dense_relu(int nb, int ni, int nh, int no, real x[nb][ni], real W1[ni][nh], real b1[nh],
                       real W2[nh][no], real b2[no], real h[nb][nh], real y[nb][no])
{
    int b, i, j;
#pragma scop
    for (b = 0; b < nb; b++)
        for (j = 0; j < nh; j++) {
            h[b][j] = b1[j];
            for (i = 0; i < ni; i++)
                h[b][j] += x[b][i] * W1[i][j];
            h[b][j] = RELU(h[b][j]);
        }
    for (b = 0; b < nb; b++)
        for (j = 0; j < no; j++) {
            y[b][j] = b2[j];
            for (i = 0; i < nh; i++)
                y[b][j] += h[b][i] * W2[i][j];
            y[b][j] = RELU(y[b][j]);
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nb = size_arg(argc, argv, 1, 20);
    int ni = size_arg(argc, argv, 2, 24);
    int nh = size_arg(argc, argv, 3, 28);
    int no = size_arg(argc, argv, 4, 16);
    size_t nx = (size_t)nb * ni, nW1 = (size_t)ni * nh, nW2 = (size_t)nh * no;
    size_t nH = (size_t)nb * nh, ny = (size_t)nb * no;
    real *x = make_reals(nx), *W1 = make_reals(nW1), *b1 = make_reals(nh), *W2 = make_reals(nW2);
    real *b2 = make_reals(no), *h = make_reals(nH), *y = make_reals(ny);

    fill(x, nx, 1);
    fill(W1, nW1, 2);
    fill(b1, nh, 3);
    fill(W2, nW2, 4);
    fill(b2, no, 5);
    for (size_t i = 0; i < nW1; i++)
        W1[i] -= 1;
    TIMED(kernel_dense_relu(nb, ni, nh, no, (void *)x, (void *)W1, b1, (void *)W2, b2, (void *)h, (void *)y));
    print_checksum("h", h, nH);
    print_checksum("y", y, ny);
    free(x);
    free(W1);
    free(b1);
    free(W2);
    free(b2);
    free(h);
    free(y);
    return 0;
}
#endif
