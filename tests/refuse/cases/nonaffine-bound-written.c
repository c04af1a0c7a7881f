/* expect: nonaffine-bound 5:25 */
void f(int dims[3], double A[100])
{
#pragma scop
    for (int i = 0; i < dims[0]; i++) {
        A[i] = 0.0;
        dims[1] = i;
    }
#pragma endscop
}
