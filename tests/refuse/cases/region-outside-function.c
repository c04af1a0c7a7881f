/* expect: region-outside-function 3:1 */
int n;
#pragma scop
double x;
#pragma endscop
