/* What the numbers look like, and a file of them. */
#include <math.h>
#include <stdio.h>

#include "net.h"

void report_layer(const char *name, const float *a, int n)
{
    double sum = 0, square = 0;
    float least = a[0], most = a[0];

    for (int i = 0; i < n; i++) {
        sum += a[i];
        square += (double)a[i] * a[i];
        if (a[i] < least)
            least = a[i];
        if (a[i] > most)
            most = a[i];
    }
    printf("  %-8s %8d floats, mean %+.5f, deviation %.5f, %+.4f to %+.4f\n", name, n, sum / n,
           sqrt(fabs(square / n - (sum / n) * (sum / n))), least, most);
}

void report_weights(const net *n)
{
    int C = n->o.channels, L = n->o.layers;

    report_layer("letters", n->w.wte, n->o.vocab * C);
    report_layer("places", n->w.wpe, n->o.length * C);
    report_layer("qkv", n->w.qkvw, L * 3 * C * C);
    report_layer("proj", n->w.projw, L * C * C);
    report_layer("fc", n->w.fcw, L * 4 * C * C);
    report_layer("out", n->w.outw, L * 4 * C * C);
}

/* How far each head looks back, on average. */
void report_attention(const net *n)
{
    int B = n->o.batch, T = n->o.length, NH = n->o.heads, b, h, t, t2, l;

    for (l = 0; l < n->o.layers; l++) {
        const float *att = n->act.att + (size_t)l * (size_t)B * (size_t)NH * (size_t)T * (size_t)T;

        printf("  layer %d looks back", l + 1);
        for (h = 0; h < NH; h++) {
            double back = 0;

            for (b = 0; b < B; b++)
                for (t = 0; t < T; t++)
                    for (t2 = 0; t2 <= t; t2++)
                        back += att[((b * NH + h) * T + t) * T + t2] * (t - t2);
            printf(" %.3f", back / (B * T));
        }
        printf("\n");
    }
}

int save_weights(const net *n, const char *name)
{
    FILE *out = fopen(name, "w");
    int failed;
    size_t i;

    if (!out) {
        perror(name);
        return -1;
    }
    fprintf(out, "# %d letters, %d places, %d layers, %d heads, %d channels\n", n->o.vocab, n->o.length, n->o.layers,
            n->o.heads, n->o.channels);
    for (i = 0; i < n->n_weights; i++)
        fprintf(out, "%.7g\n", n->memory_w[i]);
    failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        perror(name);
        return -1;
    }
    return 0;
}
