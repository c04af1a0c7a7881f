/* Bytes and words, whose sums wrap around. Plan: vector S1.i */
static void blend(int n, unsigned char *a, const unsigned char *b, short *c)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] = (unsigned char)((a[i] * 3 + b[i]) >> 2);
    c[i] += a[i];
  }
#pragma endscop
}
static unsigned char bytes[2][2000];
static short words[2000];
static void run_narrow(int n)
{
  const int k = n * 30;
  for (int i = 0; i < k; i++)
    bytes[0][i] = (unsigned char)whole[0][i], bytes[1][i] = (unsigned char)whole[1][i], words[i] = (short)i;
  blend(k, bytes[0], bytes[1], words);
  for (int i = 0; i < k; i++)
    whole[0][i] = bytes[0][i] + 256 * words[i];
}
