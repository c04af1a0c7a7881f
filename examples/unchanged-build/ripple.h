#ifndef RIPPLE_H
#define RIPPLE_H
#define SPEED 0.2   /* of waves, squared, in cells per step */
#define KEEPS 0.999 /* of the movement, from step to step */
void ripple(int steps, int n, double level[n][n], double move[n][n]);
#endif
