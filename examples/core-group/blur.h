/* Each pixel becomes the mean of the nine around it; the rim stays. */
typedef void blurring(int h, int w, const double in[h][w], double out[h][w]);

blurring blur;
blurring blur_plain; /* the same source, compiled as it is: see the Makefile */
