/* expect: not-c 8:16 */
static double grid[100];
static void put(int i, double x) { grid[i] = x; }
void f(const double &scale)
{
#pragma scop
    for (int i = 0; i < 100; i++)
        put(i, scale * i);
#pragma endscop
}
double g() { f(grid[50]); return grid[99]; }
