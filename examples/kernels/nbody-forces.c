/* All-pairs gravity with softening: positions as an array of struct, the own
 * body excluded by i != j, one square root per pair, then a leapfrog kick.
 * sizes: small n=60 | large n=5000
 * types: f64 f32
 */
#include "kernels.h"

struct body {
    real x, y, z, mass;
};

void kernel_nbody_forces(int n, real dt, const struct body *restrict b, real acc[restrict n][3],
                         real vel[restrict n][3])
{
    int i, j, d;
#pragma scop
    for (i = 0; i < n; i++) {
        real ax = 0, ay = 0, az = 0;
        for (j = 0; j < n; j++) {
            if (i != j) {
                real dx = b[j].x - b[i].x;
                real dy = b[j].y - b[i].y;
                real dz = b[j].z - b[i].z;
                real r2 = dx * dx + dy * dy + dz * dz + (real)0.01;
                real s = b[j].mass / (r2 * SQRT(r2));
                ax += s * dx;
                ay += s * dy;
                az += s * dz;
            }
        }
        acc[i][0] = ax;
        acc[i][1] = ay;
        acc[i][2] = az;
    }
    for (i = 0; i < n; i++)
        for (d = 0; d < 3; d++)
            vel[i][d] += dt * acc[i][d];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    struct body *b = make_array((size_t)n * sizeof *b);
    real *acc = make_reals(3 * (size_t)n), *vel = make_reals(3 * (size_t)n);

    for (int i = 0; i < n; i++)
        b[i] = (struct body){sample(1, i), sample(2, i), sample(3, i), sample(4, i)};
    fill(vel, 3 * (size_t)n, 5);
    TIMED(kernel_nbody_forces(n, (real)0.01, b, (void *)acc, (void *)vel));
    print_checksum("acc", acc, 3 * (size_t)n);
    print_checksum("vel", vel, 3 * (size_t)n);
    free(b);
    free(acc);
    free(vel);
    return 0;
}
#endif
