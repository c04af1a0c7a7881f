/* The left-hand side of a block-tridiagonal solver along x: Jacobians of fluxes, then blocks of five by five. */
enum { AA, BB, CC };

void lhsx(int ni, int nj, int nk, double dt1, double dt2, const double u[nk][nj][ni][5], const double rho[nk][nj][ni],
          const double qs[nk][nj][ni], const double square[nk][nj][ni], double fjac[ni][5][5], double njac[ni][5][5],
          double lhs[nk][nj][ni][3][5][5])
{
#pragma scop
    for (int k = 1; k < nk - 1; k++) {
        for (int j = 1; j < nj - 1; j++) {
            for (int i = 0; i < ni; i++) {
                fjac[i][0][0] = 0.0;
                fjac[i][0][1] = 1.0;
                fjac[i][0][2] = 0.0;
                fjac[i][0][3] = 0.0;
                fjac[i][0][4] = 0.0;
                fjac[i][1][0] = -(u[k][j][i][1] * u[k][j][i][1]) * rho[k][j][i] * rho[k][j][i] + 0.4 * qs[k][j][i];
                fjac[i][1][1] = 2.0 * u[k][j][i][1] * rho[k][j][i];
                fjac[i][1][2] = -0.4 * u[k][j][i][2] * rho[k][j][i] + square[k][j][i] * 1.0;
                fjac[i][1][3] = -0.4 * u[k][j][i][3] * rho[k][j][i] + square[k][j][i] * 1.0;
                fjac[i][1][4] = 0.4;
                fjac[i][2][0] = -(u[k][j][i][1] * u[k][j][i][2]) * rho[k][j][i] * rho[k][j][i] + 0.4 * qs[k][j][i];
                fjac[i][2][1] = -0.4 * u[k][j][i][1] * rho[k][j][i] + square[k][j][i] * 2.0;
                fjac[i][2][2] = 2.0 * u[k][j][i][2] * rho[k][j][i];
                fjac[i][2][3] = -0.4 * u[k][j][i][3] * rho[k][j][i] + square[k][j][i] * 2.0;
                fjac[i][2][4] = 0.0;
                fjac[i][3][0] = -(u[k][j][i][1] * u[k][j][i][3]) * rho[k][j][i] * rho[k][j][i] + 0.4 * qs[k][j][i];
                fjac[i][3][1] = -0.4 * u[k][j][i][1] * rho[k][j][i] + square[k][j][i] * 3.0;
                fjac[i][3][2] = -0.4 * u[k][j][i][2] * rho[k][j][i] + square[k][j][i] * 3.0;
                fjac[i][3][3] = 2.0 * u[k][j][i][3] * rho[k][j][i];
                fjac[i][3][4] = 0.0;
                fjac[i][4][0] = -(u[k][j][i][1] * u[k][j][i][4]) * rho[k][j][i] * rho[k][j][i] + 0.4 * qs[k][j][i];
                fjac[i][4][1] = -0.4 * u[k][j][i][1] * rho[k][j][i] + square[k][j][i] * 4.0;
                fjac[i][4][2] = -0.4 * u[k][j][i][2] * rho[k][j][i] + square[k][j][i] * 4.0;
                fjac[i][4][3] = -0.4 * u[k][j][i][3] * rho[k][j][i] + square[k][j][i] * 4.0;
                fjac[i][4][4] = 2.0 * u[k][j][i][4] * rho[k][j][i];
                njac[i][0][0] = 0.0;
                njac[i][0][1] = 0.0;
                njac[i][0][2] = 0.0;
                njac[i][0][3] = 0.0;
                njac[i][0][4] = 0.0;
                njac[i][1][0] = -1.5 * rho[k][j][i] * rho[k][j][i] * u[k][j][i][1];
                njac[i][1][1] = 1.5 * rho[k][j][i];
                njac[i][1][2] = 0.0;
                njac[i][1][3] = 0.0;
                njac[i][1][4] = 0.0;
                njac[i][2][0] = -1.5 * rho[k][j][i] * rho[k][j][i] * u[k][j][i][2];
                njac[i][2][1] = 0.0;
                njac[i][2][2] = 2.5 * rho[k][j][i];
                njac[i][2][3] = 0.0;
                njac[i][2][4] = 0.0;
                njac[i][3][0] = -1.5 * rho[k][j][i] * rho[k][j][i] * u[k][j][i][3];
                njac[i][3][1] = 0.0;
                njac[i][3][2] = 0.0;
                njac[i][3][3] = 3.5 * rho[k][j][i];
                njac[i][3][4] = 0.0;
                njac[i][4][0] = -1.5 * rho[k][j][i] * rho[k][j][i] * u[k][j][i][4];
                njac[i][4][1] = 0.0;
                njac[i][4][2] = 0.0;
                njac[i][4][3] = 0.0;
                njac[i][4][4] = 4.5 * rho[k][j][i];
            }
            for (int i = 1; i < ni - 1; i++) {
                lhs[k][j][i][AA][0][0] = -dt2 * fjac[i - 1][0][0] - dt1 * njac[i - 1][0][0] - dt1 * 0.75;
                lhs[k][j][i][AA][0][1] = -dt2 * fjac[i - 1][0][1] - dt1 * njac[i - 1][0][1];
                lhs[k][j][i][AA][0][2] = -dt2 * fjac[i - 1][0][2] - dt1 * njac[i - 1][0][2];
                lhs[k][j][i][AA][0][3] = -dt2 * fjac[i - 1][0][3] - dt1 * njac[i - 1][0][3];
                lhs[k][j][i][AA][0][4] = -dt2 * fjac[i - 1][0][4] - dt1 * njac[i - 1][0][4];
                lhs[k][j][i][AA][1][0] = -dt2 * fjac[i - 1][1][0] - dt1 * njac[i - 1][1][0];
                lhs[k][j][i][AA][1][1] = -dt2 * fjac[i - 1][1][1] - dt1 * njac[i - 1][1][1] - dt1 * 0.75;
                lhs[k][j][i][AA][1][2] = -dt2 * fjac[i - 1][1][2] - dt1 * njac[i - 1][1][2];
                lhs[k][j][i][AA][1][3] = -dt2 * fjac[i - 1][1][3] - dt1 * njac[i - 1][1][3];
                lhs[k][j][i][AA][1][4] = -dt2 * fjac[i - 1][1][4] - dt1 * njac[i - 1][1][4];
                lhs[k][j][i][AA][2][0] = -dt2 * fjac[i - 1][2][0] - dt1 * njac[i - 1][2][0];
                lhs[k][j][i][AA][2][1] = -dt2 * fjac[i - 1][2][1] - dt1 * njac[i - 1][2][1];
                lhs[k][j][i][AA][2][2] = -dt2 * fjac[i - 1][2][2] - dt1 * njac[i - 1][2][2] - dt1 * 0.75;
                lhs[k][j][i][AA][2][3] = -dt2 * fjac[i - 1][2][3] - dt1 * njac[i - 1][2][3];
                lhs[k][j][i][AA][2][4] = -dt2 * fjac[i - 1][2][4] - dt1 * njac[i - 1][2][4];
                lhs[k][j][i][AA][3][0] = -dt2 * fjac[i - 1][3][0] - dt1 * njac[i - 1][3][0];
                lhs[k][j][i][AA][3][1] = -dt2 * fjac[i - 1][3][1] - dt1 * njac[i - 1][3][1];
                lhs[k][j][i][AA][3][2] = -dt2 * fjac[i - 1][3][2] - dt1 * njac[i - 1][3][2];
                lhs[k][j][i][AA][3][3] = -dt2 * fjac[i - 1][3][3] - dt1 * njac[i - 1][3][3] - dt1 * 0.75;
                lhs[k][j][i][AA][3][4] = -dt2 * fjac[i - 1][3][4] - dt1 * njac[i - 1][3][4];
                lhs[k][j][i][AA][4][0] = -dt2 * fjac[i - 1][4][0] - dt1 * njac[i - 1][4][0];
                lhs[k][j][i][AA][4][1] = -dt2 * fjac[i - 1][4][1] - dt1 * njac[i - 1][4][1];
                lhs[k][j][i][AA][4][2] = -dt2 * fjac[i - 1][4][2] - dt1 * njac[i - 1][4][2];
                lhs[k][j][i][AA][4][3] = -dt2 * fjac[i - 1][4][3] - dt1 * njac[i - 1][4][3];
                lhs[k][j][i][AA][4][4] = -dt2 * fjac[i - 1][4][4] - dt1 * njac[i - 1][4][4] - dt1 * 0.75;
                lhs[k][j][i][BB][0][0] = 1.0 + dt1 * 2.0 * njac[i][0][0] + dt1 * 1.5;
                lhs[k][j][i][BB][0][1] = dt1 * 2.0 * njac[i][0][1];
                lhs[k][j][i][BB][0][2] = dt1 * 2.0 * njac[i][0][2];
                lhs[k][j][i][BB][0][3] = dt1 * 2.0 * njac[i][0][3];
                lhs[k][j][i][BB][0][4] = dt1 * 2.0 * njac[i][0][4];
                lhs[k][j][i][BB][1][0] = dt1 * 2.0 * njac[i][1][0];
                lhs[k][j][i][BB][1][1] = 1.0 + dt1 * 2.0 * njac[i][1][1] + dt1 * 1.5;
                lhs[k][j][i][BB][1][2] = dt1 * 2.0 * njac[i][1][2];
                lhs[k][j][i][BB][1][3] = dt1 * 2.0 * njac[i][1][3];
                lhs[k][j][i][BB][1][4] = dt1 * 2.0 * njac[i][1][4];
                lhs[k][j][i][BB][2][0] = dt1 * 2.0 * njac[i][2][0];
                lhs[k][j][i][BB][2][1] = dt1 * 2.0 * njac[i][2][1];
                lhs[k][j][i][BB][2][2] = 1.0 + dt1 * 2.0 * njac[i][2][2] + dt1 * 1.5;
                lhs[k][j][i][BB][2][3] = dt1 * 2.0 * njac[i][2][3];
                lhs[k][j][i][BB][2][4] = dt1 * 2.0 * njac[i][2][4];
                lhs[k][j][i][BB][3][0] = dt1 * 2.0 * njac[i][3][0];
                lhs[k][j][i][BB][3][1] = dt1 * 2.0 * njac[i][3][1];
                lhs[k][j][i][BB][3][2] = dt1 * 2.0 * njac[i][3][2];
                lhs[k][j][i][BB][3][3] = 1.0 + dt1 * 2.0 * njac[i][3][3] + dt1 * 1.5;
                lhs[k][j][i][BB][3][4] = dt1 * 2.0 * njac[i][3][4];
                lhs[k][j][i][BB][4][0] = dt1 * 2.0 * njac[i][4][0];
                lhs[k][j][i][BB][4][1] = dt1 * 2.0 * njac[i][4][1];
                lhs[k][j][i][BB][4][2] = dt1 * 2.0 * njac[i][4][2];
                lhs[k][j][i][BB][4][3] = dt1 * 2.0 * njac[i][4][3];
                lhs[k][j][i][BB][4][4] = 1.0 + dt1 * 2.0 * njac[i][4][4] + dt1 * 1.5;
                lhs[k][j][i][CC][0][0] = dt2 * fjac[i + 1][0][0] - dt1 * njac[i + 1][0][0] - dt1 * 0.75;
                lhs[k][j][i][CC][0][1] = dt2 * fjac[i + 1][0][1] - dt1 * njac[i + 1][0][1];
                lhs[k][j][i][CC][0][2] = dt2 * fjac[i + 1][0][2] - dt1 * njac[i + 1][0][2];
                lhs[k][j][i][CC][0][3] = dt2 * fjac[i + 1][0][3] - dt1 * njac[i + 1][0][3];
                lhs[k][j][i][CC][0][4] = dt2 * fjac[i + 1][0][4] - dt1 * njac[i + 1][0][4];
                lhs[k][j][i][CC][1][0] = dt2 * fjac[i + 1][1][0] - dt1 * njac[i + 1][1][0];
                lhs[k][j][i][CC][1][1] = dt2 * fjac[i + 1][1][1] - dt1 * njac[i + 1][1][1] - dt1 * 0.75;
                lhs[k][j][i][CC][1][2] = dt2 * fjac[i + 1][1][2] - dt1 * njac[i + 1][1][2];
                lhs[k][j][i][CC][1][3] = dt2 * fjac[i + 1][1][3] - dt1 * njac[i + 1][1][3];
                lhs[k][j][i][CC][1][4] = dt2 * fjac[i + 1][1][4] - dt1 * njac[i + 1][1][4];
                lhs[k][j][i][CC][2][0] = dt2 * fjac[i + 1][2][0] - dt1 * njac[i + 1][2][0];
                lhs[k][j][i][CC][2][1] = dt2 * fjac[i + 1][2][1] - dt1 * njac[i + 1][2][1];
                lhs[k][j][i][CC][2][2] = dt2 * fjac[i + 1][2][2] - dt1 * njac[i + 1][2][2] - dt1 * 0.75;
                lhs[k][j][i][CC][2][3] = dt2 * fjac[i + 1][2][3] - dt1 * njac[i + 1][2][3];
                lhs[k][j][i][CC][2][4] = dt2 * fjac[i + 1][2][4] - dt1 * njac[i + 1][2][4];
                lhs[k][j][i][CC][3][0] = dt2 * fjac[i + 1][3][0] - dt1 * njac[i + 1][3][0];
                lhs[k][j][i][CC][3][1] = dt2 * fjac[i + 1][3][1] - dt1 * njac[i + 1][3][1];
                lhs[k][j][i][CC][3][2] = dt2 * fjac[i + 1][3][2] - dt1 * njac[i + 1][3][2];
                lhs[k][j][i][CC][3][3] = dt2 * fjac[i + 1][3][3] - dt1 * njac[i + 1][3][3] - dt1 * 0.75;
                lhs[k][j][i][CC][3][4] = dt2 * fjac[i + 1][3][4] - dt1 * njac[i + 1][3][4];
                lhs[k][j][i][CC][4][0] = dt2 * fjac[i + 1][4][0] - dt1 * njac[i + 1][4][0];
                lhs[k][j][i][CC][4][1] = dt2 * fjac[i + 1][4][1] - dt1 * njac[i + 1][4][1];
                lhs[k][j][i][CC][4][2] = dt2 * fjac[i + 1][4][2] - dt1 * njac[i + 1][4][2];
                lhs[k][j][i][CC][4][3] = dt2 * fjac[i + 1][4][3] - dt1 * njac[i + 1][4][3];
                lhs[k][j][i][CC][4][4] = dt2 * fjac[i + 1][4][4] - dt1 * njac[i + 1][4][4] - dt1 * 0.75;
            }
        }
    }
#pragma endscop
}
