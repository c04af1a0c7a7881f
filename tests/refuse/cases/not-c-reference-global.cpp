/* expect: not-c 7:20 */
static double grid[100];
void f(const double &scale)
{
#pragma scop
    for (int i = 0; i < 100; i++)
        grid[i] *= scale;
#pragma endscop
}
double g() { f(grid[50]); return grid[99]; }
