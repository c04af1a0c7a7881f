"""The table of errors by id (`ERRORS`): what each means, what to do, and an example. They must be mended before
anything is generated."""

from __future__ import annotations

from codegen.refusals.entry import INPUT, Entry


def _error(id: str, meaning: str, advice: str, example: str = "") -> Entry:
    return Entry(id, INPUT, meaning, advice, example)


ERRORS: tuple[Entry, ...] = (
    _error(
        "bad-communicator",
        "What `--comm` or `#pragma tilewright comm(...)` names is no expression for a communicator: it cannot be read, "
        "changes something, or speaks of names that the file has not.",
        "Name a variable, a member or a call of the program that gives an MPI_Comm, or MPI_COMM_WORLD.",
        "--comm 'grid->comm = half'",
    ),
    _error(
        "bad-context",
        "The condition given by `--context` or `assume(...)` cannot be read.",
        "Write comparisons of parameters joined by `and`, `or`, `&&` or `||`.",
        "--context 'N is large'",
    ),
    _error(
        "bad-database",
        "A compile_commands.json is not one, or has no command for the file.",
        "Let the build system write it again, or give the flags by hand.",
        "tilewright gen x.c -p build",
    ),
    _error(
        "bad-descriptor",
        "A format descriptor does not parse, or what it says cannot be meant; the place is given.",
        "See docs/sparse.md for the language.",
        "map {[n] -> [i, j] : row(n) = i and 0 <= n < NNZ}",
    ),
    _error(
        "bad-distribution",
        "What `--distribute` says of an array cannot be read, or a region cannot work on blocks of it.",
        "Write `A: block, *` for the rows of A, and declare the array with its size; or leave it out.",
        "--distribute 'A: rows'",
    ),
    _error(
        "bad-hint",
        "`#pragma tilewright` is followed by something unknown, or names a plan outside the folder of the source.",
        "Known hints are `assume(condition)`, `pure(function, ...)`, `distinct(array, ...)`, `reassociate`, "
        "`comm(communicator)`, `plan(file)`; `--plan-path DIR` allows plans below DIR.",
        "#pragma tilewright faster",
    ),
    _error(
        "bad-isa",
        "A table of an instruction set is not TOML, lacks an operation, or holds a pattern that cannot be filled.",
        "Mend the line the message points to; docs/howto/isa.md says what a table holds.",
        'fma = "{1} * {2}"',
    ),
    _error(
        "bad-kernel",
        "A kernel's index notation does not parse, or its shape is outside what is generated.",
        "See docs/sparse.md for the notation.",
        "tilewright sparse kernel 'y(i) = A(i,j*x(j)'",
    ),
    _error(
        "bad-machine",
        "A machine description is not TOML, or a field of it is missing or wrong.",
        "Compare it with `tilewright machine show generic`.",
    ),
    _error(
        "bad-network",
        "What `--network` names is no network, or its description is wrong.",
        "A description has a name, a latency in seconds and a bandwidth in bytes per second.",
        "--network pigeons",
    ),
    _error(
        "bad-plan",
        "A plan cannot be read, or speaks of a region that the file does not have.",
        "Mend the line the message points to; `--emit plan` prints a plan to start from.",
        "tile i:-1",
    ),
    _error(
        "bad-pragma",
        "Something follows `#pragma scop` or `#pragma endscop` on its line, so perhaps another mark was meant.",
        "Leave it out; a comment may stay.",
        "#pragma scop;",
    ),
    _error(
        "bad-profile",
        "A file of `--profile` is neither gcov's text nor a list of percentages, or a script that prints one failed.",
        "Lines are `123:   45:code` under a `Source:` line, or `12.5% src/x.c:45`.",
        "tilewright gen --auto --profile notes.txt x.c",
    ),
    _error(
        "bad-sizes",
        "A region cannot be run at the sizes of `--sizes`: it would leave its arrays, or its type cannot hold one.",
        "Give others; without `--sizes` the tool looks for some.",
        "tilewright bench x.c --sizes n=-5",
    ),
    _error(
        "bad-target",
        "`tilewright.compile` was asked to load results for a target that does not run on this machine, or functions "
        "of a C++ file; or a C++ file was given to `--target sunway`, `cuda`, `hip` or `opencl`, or to `--dispatch`.",
        "Ask for `c` or `openmp`; `check --target sunway` and `check --target cuda` run on emulators.",
    ),
    _error(
        "bad-threads",
        "`--threads` names no grid of compute cores: they are used consecutively, in full rows of 8.",
        "Give 1 to 64, or R,8 with 1 to 8 rows.",
        "--threads 3,5",
    ),
    _error(
        "cannot-compile",
        "The C compiler failed on generated code that Python asked for.",
        "Set `CC` to a C11 compiler.",
    ),
    _error(
        "cannot-keep",
        "The destination format has one place for each element, so entries of equal coordinates cannot all be kept.",
        "Choose `--duplicates sum` or `reject`.",
        "tilewright sparse convert --from COO --to DIA --duplicates keep",
    ),
    _error("cannot-read", "A file does not exist, may not be read, or is not C text.", "Check its name and encoding."),
    _error(
        "cannot-write",
        "An output cannot be written; files already written by this run are put back.",
        "Check the folder and its permissions.",
    ),
    _error(
        "device-arrays",
        "With `--arrays device` a marked region, or a part of it, cannot run on the device. Its loops would stay on "
        "the host, which cannot follow pointers of the device.",
        "Mend what the message names, split the region, take its marks away, or leave `--arrays device` out.",
        "tilewright gen --target cuda --arrays device solver.c",
    ),
    _error(
        "does-not-compile",
        "`check` cannot run the original, since the compiler rejects it.",
        "Mend what the compiler says; give its `-I` and `-D` options.",
    ),
    _error(
        "illegal-plan",
        "A directive of a plan names a loop that is not there, or would break a dependence; the "
        "message names the source lines.",
        "Change or remove the directive.",
        "reverse i",
    ),
    _error("interrupted", "`tune` was interrupted before it came to this file.", "Run it again."),
    _error(
        "limit-passed",
        "A source has more bytes than the tool reads, or a child process (the preprocessor, an analysis) took more "
        "processor time, memory or output than it may. Nothing is written. What counted work bounds comes to an end "
        "long before, as the refusal `timeout`.",
        "Look for a macro that expands to very much or a header without an end; split the region or the file.",
    ),
    _error(
        "mpi-program",
        "With `--target mpi`, the program calls MPI itself, in this file or a header of its own. A region may then be "
        "of arrays of which each rank has its own part, and a result in which ranks share it would be wrong.",
        "If all ranks of a communicator hold the same data in front of the regions, name it: `--comm MPI_COMM_WORLD`, "
        "or `#pragma tilewright comm(grid->row)` at single regions. Else use `--target openmp`.",
        "#include <mpi.h> ... MPI_Sendrecv(u[1], ...);",
    ),
    _error(
        "name-taken",
        "With `--prefix`, a name of generated code would be one that the source uses already.",
        "Choose another prefix, or rename what is in the way.",
        "tilewright gen --prefix blur f.c   # where f.c has a variable `blur_min`",
    ),
    _error("needs-preprocessor", "With `--no-cpp`, the file holds macros or conditionals.", "Drop `--no-cpp`."),
    _error("no-compiler", "No C compiler is found, or one that does not work.", "Install one, or set `CC`."),
    _error(
        "no-data-cache",
        "`--ldm-cache` gives a data cache to compute cores that have none, those of the SW26010.",
        "Leave it out, or generate for the SW26010-Pro: `--machine sw26010-pro-cpe`.",
        "--ldm-cache 32",
    ),
    _error(
        "no-device",
        "`tune --target cuda` measures plans on a device, and there is none here, or no compiler for it.",
        "Run it on a machine with a GPU and `nvcc`; the plan that it writes can be used anywhere.",
    ),
    _error(
        "no-preprocessor",
        "No C compiler was found to preprocess with, or it cannot be run.",
        "Set `CC`, install a compiler, or use `--no-cpp` for files without macros.",
    ),
    _error(
        "no-scheduler",
        "`tune --scheduler` finds no Dask, no scheduler at that address, or no workers.",
        "Install `tilewright[dask]`; start `dask scheduler` and `dask worker`.",
    ),
    _error(
        "no-sources",
        "`scan` has found no C or C++ files.",
        "Name folders or files with the ending `.c` or `.cpp`; `-p` names the `compile_commands.json` of a build.",
        "tilewright scan docs",
    ),
    _error(
        "not-generated",
        "The output file exists and was not generated by tilewright.",
        "Choose another `-o`, delete the file, or use `--force`.",
    ),
    _error(
        "not-here",
        "The local page was asked for something that would read a file: an `#include` of other than a header of the C "
        "library, a plan in a file, a machine that is not in its list; or for more than it takes.",
        "Write the declarations out, or use the command.",
        '#include "mine.h"',
    ),
    _error(
        "not-measured",
        "`bench` could not measure a region; the report has the others.",
        "The message says why, as a compiler that fails, or sizes that the region cannot be run at.",
    ),
    _error(
        "other-language",
        "The file is in another language, or nothing says that it is C or C++: neither the ending of its name nor a "
        "`#pragma scop` in it.",
        "Give a C or C++ file. C that a script prints can come through standard input: `-`.",
        "tilewright gen solver.f90",
    ),
    _error(
        "preprocess-failed",
        "The preprocessor reported an error.",
        "Mend it as for the compiler; headers are found with `-I`.",
    ),
    _error(
        "ranks-differ",
        "The two formats have different numbers of dimensions.",
        "Name formats of one rank, such as COO3 and CSF.",
        "tilewright sparse convert --from COO --to CSF",
    ),
    _error(
        "stale-plan",
        "The plan was made for another version of the region.",
        "Make it anew, or replace its digest after checking it.",
    ),
    _error(
        "strict",
        "A region was left untransformed although `--strict` is given (exit 3).",
        "See the refusal that comes with it.",
    ),
    _error(
        "unbalanced-scop",
        "`#pragma scop` and `#pragma endscop` do not pair up.",
        "Close every region; regions do not nest.",
    ),
    _error(
        "unknown-format",
        "There is no sparse format of that name.",
        "`tilewright sparse formats` names them; a file works too.",
    ),
    _error("unknown-machine", "There is no machine description of that name.", "`tilewright machine list` names them."),
    _error("unknown-parameter", "`--sizes` names what no region depends on.", "The hint lists the names."),
    _error(
        "unsolved-format",
        "A descriptor is well formed, but not understood as a whole: a variable does not follow from it, an array "
        "would not be filled, a condition is of no use, two entries could share a place, or a promise would not be "
        "kept.",
        "The message names what is missing: a bound, an equality, a fill, or an order that fits.",
    ),
    _error("worker-failed", "A Dask worker could not tune a file.", "See the worker's log."),
)
