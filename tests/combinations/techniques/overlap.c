/* Arrays that may overlap, and in one call do. Plan: vector S1.i */
struct pair { double *p; };
static void shift(int n, const struct pair *to, const double *from)
{
#pragma scop
  for (int i = 0; i < n; i++)
    to->p[i] = from[i] * 2 + to->p[i];
#pragma endscop
}
static void run_overlap(int n)
{
  shift(n * n, &(struct pair){ room[0] }, room[1]);
  shift(n * n, &(struct pair){ room[2] + 1 }, room[2]);
}
