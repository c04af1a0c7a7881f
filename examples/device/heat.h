void heat(int steps, int n, double a[n][n], double b[n][n]);
void heat_plain(int steps, int n, double a[n][n], double b[n][n]);
