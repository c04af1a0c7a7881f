/* What both files share. */
#ifndef GRID_H
#define GRID_H
#define CENTRE 0.5
#define SIDE   0.125
void smooth(int n, double out[n][n], double in[n][n]);
#endif
