#include "contractions.h"

void ladder(int o, int v, double r[v][v][o][o], double w[v][v][v][v], double t[v][v][o][o])
{
#pragma scop
    for (int a = 0; a < v; a++)
        for (int b = 0; b < v; b++)
            for (int i = 0; i < o; i++)
                for (int j = 0; j < o; j++)
                    for (int e = 0; e < v; e++)
                        for (int f = 0; f < v; f++)
                            r[a][b][i][j] += w[a][b][e][f] * t[e][f][i][j];
#pragma endscop
}

void ring(int o, int v, double r[v][v][o][o], double w[o][v][v][o], double t[v][v][o][o])
{
#pragma scop
    for (int a = 0; a < v; a++)
        for (int b = 0; b < v; b++)
            for (int i = 0; i < o; i++)
                for (int j = 0; j < o; j++)
                    for (int m = 0; m < o; m++)
                        for (int e = 0; e < v; e++)
                            r[a][b][i][j] += w[m][b][e][j] * t[a][e][i][m];
#pragma endscop
}
