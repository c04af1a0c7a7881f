/* PPM files. */
#include <stdio.h>

#include "photo.h"

static int byte_of(float v)
{
    int b = (int)(255.0f * v + 0.5f);

    return b < 0 ? 0 : b > 255 ? 255 : b;
}

int write_ppm(const photo *p, const char *name)
{
    FILE *out = fopen(name, "wb");
    int i, n = p->w * p->h, failed;

    if (!out) {
        perror(name);
        return -1;
    }
    fprintf(out, "P6\n%d %d\n255\n", p->w, p->h);
    for (i = 0; i < n; i++) {
        putc(byte_of(p->r[i]), out);
        putc(byte_of(p->g[i]), out);
        putc(byte_of(p->b[i]), out);
    }
    failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        perror(name);
        return -1;
    }
    return 0;
}

static int next_number(FILE *in)
{
    int c = getc(in), value = 0;

    while (c == ' ' || c == '\n' || c == '\t' || c == '#') {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(in);
        c = getc(in);
    }
    while (c >= '0' && c <= '9') {
        value = 10 * value + (c - '0');
        c = getc(in);
    }
    return value;
}

int read_ppm(photo *p, const char *name)
{
    FILE *in = fopen(name, "rb");
    int w, h, most, i;

    if (!in) {
        perror(name);
        return -1;
    }
    if (getc(in) != 'P' || getc(in) != '6')
        goto wrong;
    w = next_number(in);
    h = next_number(in);
    most = next_number(in);
    if (w < 1 || h < 1 || w > 20000 || h > 20000 || most != 255 || photo_open(p, w, h) != 0)
        goto wrong;
    for (i = 0; i < w * h; i++) {
        p->r[i] = (float)getc(in) / 255.0f;
        p->g[i] = (float)getc(in) / 255.0f;
        p->b[i] = (float)getc(in) / 255.0f;
    }
    if (feof(in))
        photo_close(p);
    else {
        fclose(in);
        return 0;
    }
wrong:
    fprintf(stderr, "%s: no picture that can be read\n", name);
    fclose(in);
    return -1;
}
