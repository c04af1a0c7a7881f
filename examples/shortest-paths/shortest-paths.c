/* All shortest paths of a random graph by repeated squaring and by blocked Floyd-Warshall, compared with the plain one.
 *     shortest-paths [nodes [block]]
 */
#include "../app.h"
#include "minplus.h"

/* Edges of whole lengths, so that every way of adding them gives the same sum; three quarters of them are missing. */
static void random_graph(int n, double d[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double length = 1 + floor(1000 * uniform());
            d[i][j] = i == j ? 0 : uniform() < 0.25 ? length : INFINITY;
        }
}

/* Floyd-Warshall for the first n nodes of a matrix with rows of ld elements. */
static void floyd_warshall(int n, int ld, double d[][ld])
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            double to = d[i][k];
            for (int j = 0; j < n; j++)
                d[i][j] = to + d[k][j] < d[i][j] ? to + d[k][j] : d[i][j];
        }
}

/* After the s-th squaring d has the shortest paths of at most 2^s edges; n - 1 edges are always enough. The old d is
 * the start of the new one: with zeros on the diagonal the product contains it anyway. */
static void squaring(int n, double d[n][n], product *multiply)
{
    double (*old)[n] = make_array((size_t)n * n, sizeof(double));
    for (long edges = 1; edges < n - 1; edges *= 2) {
        memcpy(old, d, sizeof(double[n][n]));
        multiply(n, n, n, n, d, n, old, n, old);
    }
    free(old);
}

/* Paths through the nodes of one block after the other. The paths inside the block are found by the plain loops; put
 * in front of its rows, they give the ways from the block to every node; and from anywhere, over the block, to every
 * node is a product again. The products take copies of what they read, for they write to the same matrix. */
static void blocked(int n, int block, double d[n][n])
{
    double (*inside)[block] = make_array((size_t)block * block, sizeof(double));
    double (*rows)[n] = make_array((size_t)block * n, sizeof(double));
    double (*columns)[block] = make_array((size_t)n * block, sizeof(double));
    for (int at = 0; at < n; at += block) {
        int size = n - at < block ? n - at : block;
        size_t width = (size_t)size * sizeof(double);

        floyd_warshall(size, n, (void *)&d[at][at]);
        for (int i = 0; i < size; i++)
            memcpy(inside[i], &d[at + i][at], width);
        memcpy(rows, &d[at], (size_t)n * width);
        minplus(size, n, size, n, &d[at], block, inside, n, rows);

        memcpy(rows, &d[at], (size_t)n * width);
        for (int i = 0; i < n; i++)
            memcpy(columns[i], &d[i][at], width);
        minplus(n, n, size, n, d, block, columns, n, rows);
    }
    free(inside);
    free(rows);
    free(columns);
}

/* How many distances differ. */
static double difference(int n, double d[n][n], double expected[n][n])
{
    long count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            count += d[i][j] != expected[i][j];
    return (double)count;
}

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 300), block = size_arg(argc, argv, 2, 32), wrong = 0;
    double (*graph)[n] = make_array((size_t)n * n, sizeof(double));
    double (*expected)[n] = make_array((size_t)n * n, sizeof(double));
    double (*d)[n] = make_array((size_t)n * n, sizeof(double));
    double start, plain;

    random_graph(n, graph);
    memcpy(d, graph, sizeof(double[n][n]));
    memcpy(expected, graph, sizeof(double[n][n]));
    start = now();
    floyd_warshall(n, n, expected);
    plain = now() - start;
    start = now();
    blocked(n, block, d);
    wrong |= report("Floyd-Warshall", now() - start, plain, difference(n, d, expected), 0);

    memcpy(d, graph, sizeof(double[n][n]));
    start = now();
    squaring(n, d, minplus_plain);
    plain = now() - start;
    memcpy(d, graph, sizeof(double[n][n]));
    start = now();
    squaring(n, d, minplus);
    wrong |= report("repeated squaring", now() - start, plain, difference(n, d, expected), 0);

    free(graph);
    free(expected);
    free(d);
    return wrong;
}
