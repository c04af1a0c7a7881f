/* A convolution of several channels. Plan: product */
static void convolve(int K, int C, int h, int w, double out[K][h][w], double in[C][h + 2][w + 2], double f[K][C][3][3])
{
#pragma scop
  for (int k = 0; k < K; k++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        for (int c = 0; c < C; c++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              out[k][y][x] += f[k][c][p][q] * in[c][y + p][x + q];
#pragma endscop
}
static void run_convolution(int n)
{
  const int k = n < 20 ? n : 20;
  convolve(5, 3, k, k + 1, (void *)room[0], (void *)room[1], (void *)room[2]);
}
