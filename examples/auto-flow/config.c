/* What is asked for: defaults, and words `name=value` of the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static const char *const wall_names[] = {"noslip", "slip", "inflow", "outflow"};
static const char *const solver_names[] = {"jacobi", "sor", "multigrid"};
static const char *const side_names[] = {"left", "right", "bottom", "top"};

void config_default(config_t *c)
{
    int s;

    memset(c, 0, sizeof *c);
    c->nx = 192;
    c->ny = 160;
    c->steps = 40;
    c->report_every = 10;
    c->sweeps = 60;
    c->solver = SOLVE_JACOBI;
    c->reynolds = 400.0;
    c->prandtl = 0.71;
    c->buoyancy = 0.8;
    c->cfl = 0.4;
    c->omega = 1.6;
    c->particles = 500;
    c->obstacles = 3;
    c->picture = "";
    for (s = 0; s < SIDES; s++) {
        c->wall[s].kind = WALL_NO_SLIP;
        c->wall[s].insulated = 1;
    }
    c->wall[TOP].speed = 1.0; /* the lid moves */
    c->wall[LEFT].insulated = 0;
    c->wall[LEFT].temperature = 1.0;
    c->wall[RIGHT].insulated = 0;
    c->wall[RIGHT].temperature = -1.0;
}

static int find_word(const char *word, const char *const *names, int count)
{
    int k;

    for (k = 0; k < count; k++)
        if (strcmp(word, names[k]) == 0)
            return k;
    return -1;
}

static int set_int(const char *text, int least, int most, int *out)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end || value < least || value > most)
        return -1;
    *out = (int)value;
    return 0;
}

static int set_real(const char *text, double least, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= least) || !(value <= most))
        return -1;
    *out = value;
    return 0;
}

/* left=inflow:0.5 or top=noslip:1 */
static int set_wall(config_t *c, int side, const char *text)
{
    char word[16];
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    int kind;

    if (n >= sizeof word)
        return -1;
    memcpy(word, text, n);
    word[n] = 0;
    kind = find_word(word, wall_names, 4);
    if (kind < 0)
        return -1;
    c->wall[side].kind = (enum wall)kind;
    return colon ? set_real(colon + 1, -10.0, 10.0, &c->wall[side].speed) : 0;
}

static int set_one(config_t *c, const char *name, const char *text)
{
    int side = find_word(name, side_names, SIDES), solver;

    if (side >= 0)
        return set_wall(c, side, text);
    if (strcmp(name, "nx") == 0)
        return set_int(text, 8, 4096, &c->nx);
    if (strcmp(name, "ny") == 0)
        return set_int(text, 8, 4096, &c->ny);
    if (strcmp(name, "steps") == 0)
        return set_int(text, 1, 1000000, &c->steps);
    if (strcmp(name, "every") == 0)
        return set_int(text, 1, 1000000, &c->report_every);
    if (strcmp(name, "sweeps") == 0)
        return set_int(text, 1, 100000, &c->sweeps);
    if (strcmp(name, "particles") == 0)
        return set_int(text, 0, 1000000, &c->particles);
    if (strcmp(name, "obstacles") == 0)
        return set_int(text, 0, 100, &c->obstacles);
    if (strcmp(name, "reynolds") == 0)
        return set_real(text, 1.0, 1e5, &c->reynolds);
    if (strcmp(name, "prandtl") == 0)
        return set_real(text, 0.01, 100.0, &c->prandtl);
    if (strcmp(name, "buoyancy") == 0)
        return set_real(text, 0.0, 100.0, &c->buoyancy);
    if (strcmp(name, "cfl") == 0)
        return set_real(text, 0.01, 0.9, &c->cfl);
    if (strcmp(name, "omega") == 0)
        return set_real(text, 0.1, 1.95, &c->omega);
    if (strcmp(name, "picture") == 0) {
        c->picture = text;
        return 0;
    }
    if (strcmp(name, "solver") == 0) {
        solver = find_word(text, solver_names, 3);
        if (solver < 0)
            return -1;
        c->solver = (enum solver)solver;
        return 0;
    }
    return -1;
}

int config_args(config_t *c, int argc, char **argv)
{
    int k;

    for (k = 1; k < argc; k++) {
        char name[32];
        const char *sign = strchr(argv[k], '=');
        size_t n = sign ? (size_t)(sign - argv[k]) : 0;

        if (!sign || n >= sizeof name)
            goto wrong;
        memcpy(name, argv[k], n);
        name[n] = 0;
        if (set_one(c, name, sign + 1) != 0)
            goto wrong;
    }
    return 0;
wrong:
    fprintf(stderr, "%s: cannot make sense of `%s'\n", argv[0], argv[k]);
    return -1;
}

void config_print(const config_t *c)
{
    int s;

    printf("grid %d x %d, %d steps, %s with %d sweeps, Re %g, Pr %g\n", c->nx, c->ny, c->steps,
           solver_names[c->solver], c->sweeps, c->reynolds, c->prandtl);
    for (s = 0; s < SIDES; s++) {
        printf("  %-6s %s", side_names[s], wall_names[c->wall[s].kind]);
        if (c->wall[s].speed != 0)
            printf(", speed %g", c->wall[s].speed);
        if (!c->wall[s].insulated)
            printf(", temperature %g", c->wall[s].temperature);
        printf("\n");
    }
}
