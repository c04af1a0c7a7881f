/* Two contractions of the coupled-cluster doubles equations: o occupied orbitals (i, j, m), v virtual ones (a, b, e,
 * f), amplitudes t, integrals w, residuals r. Each is built twice, from the generated code and as it is:
 * see the Makefile. */

/* r_abij += sum over e, f of w_abef t_efij (particle-particle ladder) */
typedef void ladder_function(int o, int v, double r[v][v][o][o], double w[v][v][v][v], double t[v][v][o][o]);
ladder_function ladder, ladder_plain;

/* r_abij += sum over m, e of w_mbej t_aeim (ring) */
typedef void ring_function(int o, int v, double r[v][v][o][o], double w[o][v][v][o], double t[v][v][o][o]);
ring_function ring, ring_plain;
