"""Every message id of the tool: what it means and what to do. docs/refusals.md is made from this table:

python -m codegen.refusals > docs/refusals.md
"""

from __future__ import annotations

import sys

from codegen.record import record

REFUSAL, INPUT, WARNING, NOTE, REMARK, INTERNAL = "refusal", "error", "warning", "note", "remark", "internal"
FAMILIES = {
    REFUSAL: (
        "Refusals",
        "The region comes out as it went in, without its pragmas, with a warning; under `--strict` that is an error "
        "(exit 3).",
    ),
    INPUT: ("Errors", "Something must be mended before anything is generated (exit 1)."),
    WARNING: ("Warnings", "The output is right, but perhaps not what was meant."),
    NOTE: ("Notes", "Facts that go with other messages or that an option asked for."),
    REMARK: ("Remarks", "What was done and what was not, shown by `-Rpass`, `-Rpass-missed` and `-v`."),
    INTERNAL: ("Internal errors", "Faults of the tool itself (exit 70); nothing is written but a reproducer."),
}


@record
class Entry:
    """One id. `example` is a line or two of C, or a command, that leads to it."""

    id: str
    family: str
    meaning: str
    advice: str
    example: str = ""


def _refusal(id: str, meaning: str, advice: str, example: str = "") -> Entry:
    return Entry(id, REFUSAL, meaning, advice, example)


def _error(id: str, meaning: str, advice: str, example: str = "") -> Entry:
    return Entry(id, INPUT, meaning, advice, example)


TABLE: tuple[Entry, ...] = (
    _refusal(
        "alias-unknown",
        "An array is found through pointers in memory, like rows behind a pointer to pointers, or by subscripts that "
        "depend on data, and no test before the loops can tell whether it overlaps with another. That stops a region "
        "where the function itself sets the two from one another, and with `--check-alias`. It also stops one where "
        "the pointer is a member of a struct that the source reads only under conditions on data, so that nobody may "
        "read it before the loops, or where a single value lies behind such a pointer.",
        "Put it into one block of memory behind one pointer, or use one of the two for both; copy a member to a "
        "variable before the region; leave `--check-alias` out, or give `--assume-no-alias`, if nothing overlaps.",
        "double **a; ... a[i][j] = b[j];",
    ),
    _refusal(
        "always-wraps",
        "An unsigned or narrow counter would wrap around for every value of the parameters, so "
        "the loop is not the counted loop it looks like; or the index within a row of a flat array leaves the row for "
        "every value.",
        "Use a signed loop variable, bounds within the type's range, and in a[i*n + j] a j that stays below n.",
        "for (unsigned i = 9; i >= 0; i--)",
    ),
    _refusal(
        "array-as-value",
        "An array, a row of one or a pointer is used where an element is expected.",
        "Subscript it down to an element.",
        "double B[n][4]; ... x = B[i] == C;",
    ),
    _refusal(
        "counter-after-loop",
        "A loop variable is used in the region where its loop is over.",
        "Write the value it has there, or use another variable.",
        "for (i = 0; i < n; i++) a[i] = 0; a[0] = i;",
    ),
    _refusal(
        "data-dependent-subscript",
        "A subscript is read from memory or changes inside the region, and its array is declared in the region, or is "
        "one of unions or of structs that are used as a whole, too. With `--target sunway`, `cuda`, `hip` or "
        "`opencl`, of any array.",
        "Declare the array before the region; else use loop variables and integers that the region does not change.",
        "double t[4]; t[p[i]] = 0;",
    ),
    _refusal(
        "foreign-pragma",
        "A pragma of OpenMP or OpenACC stands in the region that does more than share out a loop, or one stands right "
        "before it; dropping it could change what the program means. Or the region is part of what such a pragma hands "
        "to a device, or, with `--target sunway`, to threads.",
        "Remove it, or mark regions outside of it: the tool makes loops parallel itself.",
    ),
    _refusal(
        "gpu-array",
        "With `--target cuda`, `hip` or `opencl`: an array cannot be given to a device. It is reached through other "
        "pointers, has elements of no plain type or rows of unknown length, or which of its elements are used falls "
        "into many cases.",
        "Pass a plain array of numbers, or split the region.",
        "double **A; ... A[i][j] = 0;",
    ),
    _refusal(
        "gpu-call",
        "With `--target cuda`, `hip` or `opencl`: a function is called that devices do not have.",
        "Write its formula into the region, or use functions of <math.h>.",
    ),
    _refusal(
        "gpu-value",
        "With `--target cuda`, `hip` or `opencl`: a value has no plain name and type under which it could be passed to "
        "a device, or its name means something there.",
        "Copy it into a variable before the region.",
        "b[i] = p->scale * a[i];",
    ),
    _refusal(
        "isl-failed",
        "The integer set library could not compute the region's dependences.",
        "Simplify its bounds and subscripts, or split the region.",
    ),
    _refusal(
        "iterator-modified",
        "A loop variable is set by something other than its own loop header.",
        "Let only the header change it.",
        "for (i = 0; i < n; i++) { ...; i = i + 1; }",
    ),
    _refusal(
        "jump",
        "`goto`, `return` or a label stands in the region; or a `break` other than `if (c) break;` with an affine "
        "condition at the start of a loop; or a `continue` from which not every way on ends.",
        "Turn the exit into a loop bound or a condition, or move it behind the region.",
        "for (...) { if (A[i] > 0) break; }",
    ),
    _refusal(
        "local-declaration",
        "A variable declared in the region is a pointer, static or extern, an array whose size changes, or of a struct "
        "or union that is given its name there, or has none and is copied.",
        "Declare it, or its type, before the region.",
        "double *p = A;",
    ),
    _refusal(
        "local-initializer",
        "An array declared in the region has an initializer list.",
        "Assign the elements one by one.",
        "double t[2] = {1, 2};",
    ),
    _refusal(
        "loop-form",
        "A `for` is not a counted loop: it does not set one integer variable, has no condition, or "
        "its step is not constant.",
        "Write `for (i = first; i < limit; i += 4)`.",
        "for (i = 0; i < n; i *= 2)",
    ),
    _refusal(
        "loop-unbounded",
        "The loop condition never stops the loop in the direction it counts.",
        "Compare the loop variable with a limit that it reaches.",
        "for (int i = 0; i >= 0; i++)",
    ),
    _refusal(
        "nesting-too-deep",
        "Loops are nested more than 24 deep, or expressions or blocks too deeply to be read.",
        "Move inner loops to a region of their own, or split the expression.",
    ),
    _refusal(
        "no-parallelism",
        "With `--target sunway`: no loop of the region can run on the compute cores in parallel, so it "
        "stays on the management core. With `--target cuda`, `hip` or `opencl`: none around the statement can run on "
        "threads of a device, so it stays on the host.",
        "Nothing is wrong; other regions of the file, or other parts of this one, may still be transformed.",
    ),
    _refusal(
        "no-proof",
        "No order of the loops, not even the source's own, could be proven within the effort allowed, or what was "
        "printed for it could not be.",
        "Split the region into smaller ones.",
    ),
    _refusal(
        "nonaffine-bound",
        "A loop bound is not a sum of loop variables, parameters and constants: it multiplies a loop variable, or "
        "reads memory that the region changes or that differs from iteration to iteration. Inner loops may do that if "
        "they store to one array or variable.",
        "Compute the bound into an integer before the region, or let each such loop store to one array.",
        "for (i = 0; i < count[i]; i++)",
    ),
    _refusal(
        "nonaffine-subscript",
        "A subscript of an array that is declared in the region multiplies two variables, or divides by one that may "
        "fit into it many times.",
        "Declare the array before the region, or compute the product there.",
        "double t[100]; t[i * i] = 0;",
    ),
    _refusal(
        "not-c",
        "The region is in a C++ file and uses something that is not surely C: a class with functions of its own, a "
        "reference, a template, `auto`, a lambda, a member of the object, an overloaded function.",
        "Take a pointer to the elements, or put the value into a variable of an arithmetic type, before the region.",
        "std::vector<double> v(n);  /* in the region: v[i] = 0; */",
    ),
    _refusal(
        "parse-error",
        "The region, or a declaration it needs, is not plain C: assembler, a statement expression, "
        "a compiler extension, or a syntax error.",
        "Move it out of the region, or declare it with a plain C type.",
        "A[i] = ({ 1.0; });",
    ),
    _refusal(
        "pointer-arithmetic",
        "An address is used for more than an element of an array of the region.",
        "Write the element as a subscript of the array.",
        "x = &A[i] == B;",
    ),
    _refusal(
        "pointer-unknown",
        "The region sets a pointer, and it is not one array with an offset wherever it is used: two branches set it "
        "differently, a loop moves it by data, it is used behind the region, or it has another type than the array.",
        "Set it in the block that uses it, `double *p = A + i * n;`, or write the array itself with subscripts.",
        "double *p = x[i] > 0 ? A : B; p[i] = 0;",
    ),
    _refusal(
        "region-outside-function",
        "The region does not lie within the body of one function.",
        "Put both pragmas inside the same function.",
    ),
    _refusal(
        "region-repeated",
        "The file includes itself, so the region is compiled more than once.",
        "Move the region to a file of its own.",
    ),
    _refusal(
        "region-split",
        "The region begins in one block and ends in another.",
        "Put both pragmas directly into the same pair of braces.",
        "for (...) {\n#pragma scop\n    A[i] = 0; }\n#pragma endscop",
    ),
    _refusal("region-too-large", "The region has more than 400 statements.", "Split it into several regions."),
    _refusal(
        "side-effect",
        "An expression changes a variable while it is evaluated.",
        "Write the change as a statement of its own.",
        "A[i] = i > 2 ? k++ : 0;",
    ),
    _refusal(
        "sunway-array",
        "With `--target sunway`: an array is reached through a pointer, has rows that lie anywhere, or elements that "
        "are neither numbers nor structs of numbers of one type.",
        "Pass it as a plain array or pointer to numbers.",
    ),
    _refusal(
        "sunway-call",
        "With `--target sunway`: a function is called that the compute cores do not have.",
        "Write its formula into the region, or use functions of <math.h>.",
    ),
    _refusal(
        "sunway-ldm",
        "With `--target sunway`: even small tiles do not fit into the local memory of a compute core, or an "
        "array declared in the region has no constant size. The message names the arrays and their bytes.",
        "Use smaller tiles in the plan, or smaller local arrays.",
    ),
    _refusal(
        "sunway-shared",
        "With `--target sunway`: a variable declared in the region carries values between kernels and its "
        "size is not a constant.",
        "Declare it outside the region.",
    ),
    _refusal(
        "sunway-store",
        "With `--target sunway`: an element is stored only where a condition on data holds. Compute cores send whole "
        "tiles back, and would store the others, too.",
        "Give it a value in any case, as in `x = cond ? a : b;`, if the program allows that.",
        "if (a[i] > 0) b[i] = a[i];",
    ),
    _refusal(
        "sunway-value",
        "With `--target sunway`: a value has no plain name and type under which it could be passed to the "
        "compute cores.",
        "Copy it into a variable before the region.",
    ),
    _refusal(
        "switch",
        "Cases of a `switch` run into each other, or jump.",
        "End each case with `break`, or rewrite it with `if`.",
    ),
    _refusal(
        "thread-local",
        "With `--target sunway`, `cuda`, `hip` or `opencl`: the region uses a variable of which each thread has its "
        "own; cores and devices have none.",
        "Copy it to a plain variable before the region, and back behind it.",
        "static _Thread_local double t; ... b[i] = t;",
    ),
    _refusal(
        "timeout",
        "The analysis takes more work than `--timeout` allows. Work is counted, not timed, so that the same input has "
        "the same result on every machine.",
        "Raise it, or split the region.",
    ),
    _refusal(
        "unknown-call",
        "A function is called that may do more than compute a value, and whose body cannot take the place of the call: "
        "it is not in the file, calls itself, returns from within a loop, has `static` variables, or is called where "
        "nothing can stand in front.",
        "Where it only computes a value from its arguments, declare it with `__attribute__((const))` or write "
        "`#pragma tilewright pure(NAME)` before the region; else define it in the file, or write its body in place.",
        "A[i] = next(A[i]);",
    ),
    _refusal(
        "unknown-member",
        "The struct is not defined where the tool can see it, has no such member, or the member is a bit-field.",
        "Define the struct before the function.",
        "struct s; ... p->x = 0;",
    ),
    _refusal("unknown-name", "A name is not declared where the tool can see it.", "Declare it before the region."),
    _refusal(
        "unknown-size",
        "`check` cannot tell how much memory a pointer of the region needs; the region is not checked.",
        "Declare the array with its size.",
    ),
    _refusal(
        "unsupported-expression",
        "An expression has no place in the model: a string, a comma, an odd target of an assignment.",
        "Compute it before the region and use the result.",
        "A[i] = (n, 1.0);",
    ),
    _refusal(
        "unsupported-statement",
        "A statement is neither a loop, an `if`, an assignment nor a declaration.",
        "Move it out of the region.",
        "A[i] + 1.0;",
    ),
    _refusal(
        "volatile",
        "A volatile or atomic object is accessed: each access counts, in the order written.",
        "Copy it to a plain variable before the region.",
        "extern volatile double ticks; ... A[i] = ticks;",
    ),
    _refusal(
        "while-loop",
        "A `while` or `do` loop has no known trip count.",
        "Rewrite it as a counted `for` loop.",
        "while (x > 1) x = x / 2;",
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
        "Known hints are `assume(condition)`, `pure(function, ...)`, `reassociate`, `plan(file)`; `--plan-path DIR` "
        "allows plans below DIR.",
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
        "bad-profile",
        "A file of `--profile` is neither gcov's text nor a list of percentages, or a script that prints one failed.",
        "Lines are `123:   45:code` under a `Source:` line, or `12.5% src/x.c:45`.",
        "tilewright gen --auto --profile notes.txt x.c",
    ),
    _error(
        "bad-target",
        "`codegen.compile` was asked to load results for a target that does not run on this machine, or functions of a "
        "C++ file; or a C++ file was given to `--target sunway`, `cuda`, `hip` or `opencl`.",
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
        "name-taken",
        "With `--prefix`, a name of generated code would be one that the source uses already.",
        "Choose another prefix, or rename what is in the way.",
        "tilewright gen --prefix blur f.c   # where f.c has a variable `blur_min`",
    ),
    _error("needs-preprocessor", "With `--no-cpp`, the file holds macros or conditionals.", "Drop `--no-cpp`."),
    _error("no-compiler", "No C compiler is found, or one that does not work.", "Install one, or set `CC`."),
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
    _error("unknown-parameter", "`tune --size` names what no region depends on.", "The hint lists the names."),
    _error(
        "unsolved-format",
        "A descriptor is well formed, but one of its variables does not follow from it.",
        "The message names what is missing: a bound, an equality, or an order that fits.",
    ),
    _error("worker-failed", "A Dask worker could not tune a file.", "See the worker's log."),
    Entry(
        "conditional-region",
        WARNING,
        "There is an `#if`, `#ifdef` or `#ifndef` inside the region. Only the branch that the macros of this run "
        "choose was read, so the result has no other; a compiler that would choose another one stops with an `#error`.",
        "Generate once for each configuration, with its -D options, or put `#if` around whole regions. `#if 0` and "
        "`#if 1` say nothing, and are not warned of.",
        "#pragma scop ... #ifdef FAST ... #endif ... #pragma endscop",
    ),
    Entry(
        "inactive-region",
        WARNING,
        "The preprocessor switches the region off, so it is left as it is.",
        "Check the macros given with `-D`.",
    ),
    Entry(
        "inside-construct",
        WARNING,
        "The region stands inside a construct of OpenMP or OpenACC, so that threads of the program's own run it: once, "
        "or each of them all of it. It is transformed for one thread.",
        "Mark the region outside of the construct and remove the directive, and the tool shares the work out itself.",
        "#pragma omp parallel for ... { #pragma scop ... #pragma endscop }",
    ),
    Entry(
        "misspelt-pragma",
        WARNING,
        "A pragma is almost, but not quite, one of the tool's own, which compilers would not tell either.",
        "Write it as `#pragma scop`, `#pragma endscop` or `#pragma tilewright ...`, in small letters.",
        "#pragma skop",
    ),
    Entry(
        "no-effect",
        WARNING,
        "An option was given that the target does not look at.",
        "Leave it out, or give the target that it is for.",
        "tilewright gen x.c --target openmp --threads 8,8",
    ),
    Entry("no-region", WARNING, "The file has no `#pragma scop`.", "Mark the loops to transform."),
    Entry(
        "region-partly",
        WARNING,
        "Parts of a region are transformed; the notes that follow say what stands in the way of the rest, which stays "
        "as it is.",
        "See the ids of the notes. `-Wno-region-partly` hides it where that is fine.",
        "for (t = 0; t < n; t++) { log_step(t); for (i ...) for (j ...) a[i][j] = ...; }",
    ),
    Entry(
        "region-refused",
        WARNING,
        "A region is left as it is; the notes that follow say why, all that stands in its way at once.",
        "See the ids of the notes.",
    ),
    Entry(
        "unknown-warning",
        WARNING,
        "A word behind `-W` is not the id of a warning.",
        "`tilewright explain` lists the ids; those of refusals and errors cannot be switched.",
        "tilewright gen x.c -Wno-region-refuse",
    ),
    Entry(
        "unused-assumption",
        WARNING,
        "An assumption (`--context`) speaks of a name that is nowhere in the file, so it says nothing.",
        "Name a parameter of the loops as the source does.",
        "tilewright gen x.c --context 'n0 >= 64'",
    ),
    Entry("error-limit", NOTE, "More errors were found than are shown.", "Raise `--error-limit`."),
    Entry("native-machine", NOTE, "What `--machine native` found on this host.", ""),
    Entry("region", NOTE, "What became of a region, shown by `-v`.", ""),
    Entry("stats", NOTE, "How many regions there were and how long each stage took, shown by `--stats`.", ""),
    Entry("tuned", NOTE, "What `tune` found for a region, or why nothing was measured.", ""),
    Entry("auto", REMARK, "What was done to a nest that `--auto` has found.", ""),
    Entry("blocks", REMARK, "A sequential loop runs in blocks, so that most of its work is a product.", ""),
    Entry(
        "conditional-nest",
        REMARK,
        "An `#if` begins in a nest and ends outside of it, or the other way round, so `--auto` leaves it as it is.",
        "Put the `#if` around whole loops.",
        "#ifdef BOTH ... for (i = 0; i < n; i++) { ... #else ... for (i = 1; i < n; i++) { ... #endif ... }",
    ),
    Entry(
        "expanded",
        REMARK,
        "All values of a variable are kept at once, so that a product stands apart; the memory that takes is given.",
        "",
    ),
    Entry(
        "fallback",
        REMARK,
        "The first plan could not be carried out or proven, and a simpler one was used.",
        "Nothing needs to be done; the simpler plan is proven.",
    ),
    Entry("fusion", REMARK, "Which statements share loops, and why.", "`--fusion` and a hint of that name change it."),
    Entry(
        "has-directives",
        REMARK,
        "A nest has directives of OpenMP or OpenACC of its own, which `--auto` leaves as they are.",
        "Remove them, or mark the nest with `#pragma scop`, and the tool shares the work out itself.",
        "#pragma omp parallel for",
    ),
    Entry("kernel", REMARK, "A nest runs on the compute cores in tiles, or on threads of a device.", ""),
    Entry("main-memory", REMARK, "Compute cores reach an array in main memory instead of a local copy, and why.", ""),
    Entry(
        "nest-refused",
        REMARK,
        "A nest that `--auto` has found cannot be transformed; the note below says why, by the id of a refusal.",
        "The nests inside it are tried by themselves.",
    ),
    Entry(
        "no-gain",
        REMARK,
        "The cost model predicts no gain for a nest that `--auto` has found, or it has little to do.",
        "Mark it with `#pragma scop` to have it transformed all the same.",
    ),
    Entry("no-kernel", REMARK, "A nest with parallel loops stays off the compute cores, and why.", ""),
    Entry(
        "no-product",
        REMARK,
        "A statement looks like a product, but its loops cannot be carried out as one.",
        "The remark names the condition that fails.",
    ),
    Entry(
        "not-obeyed",
        REMARK,
        "A directive of a plan has no effect on what is printed, or only on some of it: threads without threads in the "
        "target, loops that cannot be shared out together, or vectors that no directive for compilers can ask for.",
        "Leave the directive out, or choose another target.",
    ),
    Entry(
        "not-read-back",
        REMARK,
        "What is printed of products and matrix-vector products is read back and proven once more, from the text. This "
        "one has a form that the reading does not know yet: its loops are proven as always, the text of its blocks is "
        "trusted.",
        "Run `check` on it, which compares it with the original.",
    ),
    Entry(
        "not-vector",
        REMARK,
        "An innermost loop carries a dependence or jumps through an array, and is not marked for the vectorizer. Or it "
        "was to be written as vectors, or with iterations side by side, and what it holds has no such form.",
        "For floating-point sums, `--reassociate` may help.",
    ),
    Entry(
        "one-thread",
        REMARK,
        "The region uses a variable of which each thread has its own (`_Thread_local`, `threadprivate`). Other threads "
        "would use theirs, so the region stays on the thread that comes to it. On a device: a statement between "
        "kernels has no loop that can run on threads, and runs on a single one, so that data need not come back for "
        "it.",
        "Copy it to a plain variable before the region, and back behind it.",
        "static _Thread_local double t; ... t = a[i]; b[i] = t * t;",
    ),
    Entry(
        "overlap",
        REMARK,
        "The function sets two arrays of the region from one another, and the fast version runs only where they do not "
        "overlap; or an array behind pointers in memory, which no test can tell from others, is taken not to overlap.",
        "Use one array for both; or see that such rows are memory of their own, or give `--check-alias`.",
    ),
    Entry(
        "own-directives",
        REMARK,
        "A directive of OpenMP or OpenACC that shares out a loop of the region is dropped: the result has its own.",
        "",
    ),
    Entry("ownership", REMARK, "Which elements a thread, a register tile or a core has to itself, and why.", ""),
    Entry("parallel", REMARK, "A loop runs on threads.", ""),
    Entry(
        "privatized", REMARK, "A variable became one for each iteration, so that iterations can run side by side.", ""
    ),
    Entry("product", REMARK, "A statement is a product and runs in blocks; its shape and blocks are given.", ""),
    Entry("ranks", REMARK, "Which loops the ranks of an MPI program share, and what they send each other.", ""),
    Entry(
        "reduction-order",
        REMARK,
        "The order in which floating-point numbers are compared keeps loops from running along lines of arrays.",
        "Where that order is of no importance, `--reassociate` frees it.",
    ),
    Entry("register-tile", REMARK, "How many rows and vectors of a loop go side by side, and why not more.", ""),
    Entry(
        "replicated",
        REMARK,
        "Every rank of an MPI program runs the whole region: its loops cannot be shared out, or it would not pay.",
        "`inspect` shows which values loops hand on; a loop is shared out if it hands on none.",
    ),
    Entry(
        "row-reductions", REMARK, "Sums or extremes are reduced in another order, by loops along rows of arrays.", ""
    ),
    Entry("rows", REMARK, "Some rows of a recurrence take turns, so that none waits for itself.", ""),
    Entry("scalar-replacement", REMARK, "What the next iterations of a loop use again stays in registers.", ""),
    Entry(
        "sequential",
        REMARK,
        "No loop runs on threads or as vectors, and nothing else was done.",
        "`-Rpass-missed=.` names the values that loops hand on; `inspect` shows all of them.",
    ),
    Entry("source-order", REMARK, "No other order of loops is predicted to be faster; the source's stays.", ""),
    Entry("thread-loop", REMARK, "Which of several loops is shared out to threads, and what they own.", ""),
    Entry("tiled", REMARK, "Loops were cut into tiles.", ""),
    Entry("time-tiles", REMARK, "Tiles take many steps of a sweep over a grid while a part of it is in cache.", ""),
    Entry("vector", REMARK, "A loop is marked for the vectorizer.", ""),
    Entry("wavefront", REMARK, "Tiles depend on one another; threads follow each other through them.", ""),
    Entry(
        "internal-error",
        INTERNAL,
        "The tool failed; the message names a folder with all that is needed to repeat it.",
        "Report it.",
    ),
    Entry(
        "worker-died",
        INTERNAL,
        "The process that analyses a region ended without an answer.",
        "Report it; splitting the region may avoid it.",
    ),
)


def find(name: str) -> Entry | None:
    """The entry of an id."""
    return next((e for e in TABLE if e.id == name), None)


def what_follows(e: Entry) -> str:
    """How its warnings are switched; empty for what is no warning."""
    return f"`-Wno-{e.id}` hides it, `-Werror={e.id}` makes it an error. " if e.family == WARNING else ""


def markdown() -> str:
    """The whole page."""
    head = (
        "# Messages\n\nMade from `codegen/refusals.py` by `python -m codegen.refusals`; edit that file instead.\n\n"
        "Every message ends in its id in brackets; `tilewright explain ID` prints what stands here. Warnings are "
        "switched by `-Wno-ID` and `-Werror=ID`.\n"
    )
    return head + "".join(_family(f) for f in FAMILIES)


def _family(family: str) -> str:
    title, about = FAMILIES[family]
    return f"\n## {title}\n\n{about}\n" + "".join(_entry(e) for e in TABLE if e.family == family)


def _entry(e: Entry) -> str:
    text = f"\n### {e.id}\n\n{e.meaning}"
    text += f" {e.advice}\n" if e.advice else "\n"
    return text + (f"\n```\n{e.example}\n```\n" if e.example else "")


if __name__ == "__main__":
    sys.stdout.write(markdown())
