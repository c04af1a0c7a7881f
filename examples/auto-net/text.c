/* A text to learn. */
#include <string.h>

#include "net.h"

static const char rhyme[] =
    "the sun comes up, the sun goes down, the river runs around the town. "
    "the rain falls down on street and hill, the wheel turns round inside the mill. "
    "the miller grinds the corn to flour, the clock strikes once for every hour. "
    "the baker bakes the bread at night, the oven glows, the crust is light. "
    "the children run to school at eight, the teacher waits beside the gate. "
    "the words they write are short and few, the ink is black, the sky is blue. "
    "the moon comes up, the moon goes down, the night is still around the town. "
    "the owl looks out, the mice stay in, the hill is dark, the clouds are thin. "
    "the wheel stands still, the mill is closed, the river runs, the town has dozed. ";

/* Letters get numbers in the order of the alphabet of bytes. */
void corpus_open(corpus *c)
{
    int seen[256] = {0}, i;

    memset(c, 0, sizeof *c);
    c->text = rhyme;
    c->n = (int)sizeof rhyme - 1;
    for (i = 0; i < c->n; i++)
        seen[(unsigned char)c->text[i]] = 1;
    for (i = 0; i < 256; i++) {
        c->code[i] = seen[i] ? c->letters : 0;
        if (seen[i])
            c->letter[c->letters++] = (char)i;
    }
}

/* Pieces from anywhere; targets are the letters that follow. */
void corpus_batch(const corpus *c, int batch, int length, int *inputs, int *targets)
{
    int b, t;

    for (b = 0; b < batch; b++) {
        int start = (int)(rng_next() % (unsigned)(c->n - length - 1));

        for (t = 0; t < length; t++) {
            inputs[b * length + t] = c->code[(unsigned char)c->text[start + t]];
            targets[b * length + t] = c->code[(unsigned char)c->text[start + t + 1]];
        }
    }
}
