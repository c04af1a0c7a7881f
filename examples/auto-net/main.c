/* net [STEPS [CHANNELS [LENGTH]]]: learn a rhyme, letter by letter, and go on with it. Everything but the last line,
 * which is the time, is the same in every run. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "net.h"

static double seconds(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int argument(int argc, char **argv, int k, int least, int most, int *out)
{
    char *end;
    long value;

    if (k >= argc)
        return 0;
    value = strtol(argv[k], &end, 10);
    if (end == argv[k] || *end || value < least || value > most) {
        fprintf(stderr, "%s: a number from %d to %d is needed, not `%s'\n", argv[0], least, most, argv[k]);
        return -1;
    }
    *out = (int)value;
    return 0;
}

static void learn(net *n, const corpus *c)
{
    int step;

    for (step = 1; step <= n->o.steps; step++) {
        corpus_batch(c, n->o.batch, n->o.length, n->inputs, n->targets);
        net_forward(n, 1);
        net_zero(n);
        net_backward(n);
        net_update(n, step);
        if (step == 1 || step % n->o.report_every == 0 || step == n->o.steps)
            printf("step %4d: loss %.4f, right %.4f\n", step, n->mean_loss,
                   accuracy(n->act.probs, n->targets, n->o.batch * n->o.length, n->o.vocab));
    }
}

int main(int argc, char **argv)
{
    options o = {0, 24, 2, 4, 48, 4, 24, 6, 0.01f, 11, ""};
    static const char *const starts[] = {"the sun ", "the mill"};
    corpus c;
    net n;
    double start;
    unsigned k;

    if (argument(argc, argv, 1, 1, 100000, &o.steps) || argument(argc, argv, 2, 8, 1024, &o.channels)
        || argument(argc, argv, 3, 4, 256, &o.length))
        return 2;
    o.channels -= o.channels % o.heads;
    corpus_open(&c);
    o.vocab = c.letters;
    rng_seed(o.seed);
    if (net_open(&n, &o) != 0) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
        return 1;
    }
    printf("%d letters of %d kinds, %zu weights\n", c.n, c.letters, n.n_weights);
    start = seconds();
    learn(&n, &c);
    report_weights(&n);
    report_attention(&n);
    study_mistakes(&n, &c);
    study_letters(&n, &c);
    printf("  perplexity %.4f\n", study_perplexity(&n, &c));
    for (k = 0; k < sizeof starts / sizeof starts[0]; k++) {
        char text[25];

        net_continue(&n, &c, starts[k], 24, text);
        printf("> %s\n", text);
    }
    start = seconds() - start;
    if (o.save[0] && save_weights(&n, o.save) != 0)
        return 1;
    printf("%.3f s\n", start);
    net_close(&n);
    return 0;
}
