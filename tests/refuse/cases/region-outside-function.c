/* expect: ? */
int n;
#pragma scop
double x;
#pragma endscop
