/* European option prices: an elementwise map with exp, log, sqrt, erfc and
 * temporaries declared in the loop body.
 * sizes: small n=200 | large n=3000000
 * types: fixed
 */
#include "kernels.h"

void kernel_black_scholes(int n, double r, const double spot[n], const double strike[n],
                          const double vol[n], const double years[n], double call[n], double put[n])
{
    int i;
#pragma scop
    for (i = 0; i < n; i++) {
        double sd = vol[i] * sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + (r + 0.5 * vol[i] * vol[i]) * years[i]) / sd;
        double d2 = d1 - sd;
        double disc = strike[i] * exp(-r * years[i]);
        call[i] = spot[i] * 0.5 * erfc(-d1 / sqrt(2.0)) - disc * 0.5 * erfc(-d2 / sqrt(2.0));
        put[i] = call[i] - spot[i] + disc;
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 200);
    double *spot = MAKE(double, n), *strike = MAKE(double, n), *vol = MAKE(double, n);
    double *years = MAKE(double, n), *call = MAKE(double, n), *put = MAKE(double, n);

    FILL_WITH(spot, n, 1, 80.0 + u % 40);
    FILL_WITH(strike, n, 2, 80.0 + u % 40);
    FILL_WITH(vol, n, 3, 0.1 + (u % 100) / 250.0);
    FILL_WITH(years, n, 4, 0.25 + (u % 100) / 50.0);
    TIMED(kernel_black_scholes(n, 0.03, spot, strike, vol, years, call, put));
    CHECKSUM_OF("call", call, n);
    CHECKSUM_OF("put", put, n);
    free(spot);
    free(strike);
    free(vol);
    free(years);
    free(call);
    free(put);
    return 0;
}
#endif
