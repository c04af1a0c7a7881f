/* Programs that are right, and have one fault each when they are told its name. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "athread.h"
#include "crts.h"

extern const char *fault;
static inline int is(const char *name) { return !strcmp(fault, name); }

typedef struct {
  double *a, *b, *c;
  int n;
} args;

enum { T = 16, N = 192, TILES = N / T * (N / T) }; /* tiles of T x T of a matrix of N x N: two or three for a core */

void tiles(args *p), halo(args *p), table(args *p), along(args *p), slices(args *p), directly(args *p), kept(args *p);

#endif
