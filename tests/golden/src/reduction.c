/* Sums: with --reassociate on threads and in lanes, without it in order. */
double dot(int n, const double x[n], const double y[n])
{
    double s = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
#pragma endscop
    return s;
}
