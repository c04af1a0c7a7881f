"""The table of refusals by id (`REGIONS`): why a region comes out as it went in, what to do, and an example."""

from __future__ import annotations

from codegen.refusals.entry import REFUSAL, Entry


def _refusal(id: str, meaning: str, advice: str, example: str = "") -> Entry:
    return Entry(id, REFUSAL, meaning, advice, example)


REGIONS: tuple[Entry, ...] = (
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
        "bit-field",
        "A member of a struct is a bit-field. It shares its bytes with others, so who stores it stores those, too, and "
        "it has no address: no test before the loops can tell what it overlaps with.",
        "Give it a type of its own (`unsigned char b;` for `unsigned b : 3;`), or copy it to an array before.",
        "struct s { unsigned b : 3; }; ... p[i].b = 1;",
    ),
    _refusal(
        "compiler-flag",
        "The file is compiled with a flag under which C means something that generated code does not keep: -ftrapv, "
        "-fnon-call-exceptions, -frounding-math, -ftrapping-math, -fsignaling-nans, -mfpmath=387, "
        "-fsingle-precision-constant, -fpack-struct, -std=c90 and the like, or a pragma or attribute that stands for "
        "one (`#pragma STDC FENV_ACCESS ON`, `#pragma GCC optimize`). Those about rounding, exceptions and precision "
        "stop regions with floating-point numbers. Docs page flags.md lists what is done about each. Data of type "
        "`long` or size_t stop a region where `long` has 32 bits (-m32).",
        "Leave the flag out for the files with regions, or put the code that needs it into a file of its own.",
        "tilewright gen -ftrapv nest.c",
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
        "A variable declared in the region is used behind it; or it is a pointer, static or extern, an array whose "
        "size changes, or of a struct or union that is given its name there, or has none and is copied; or the "
        "function defines a type of the name that another one has.",
        "Declare it, or its type, before the region, and give types names of their own.",
        "double *p = A;",
    ),
    _refusal(
        "local-initializer",
        "An array declared in the region has an initializer list that is not flat, or longer than 64 values.",
        "Assign the elements one by one.",
        "double t[2][1] = {{1}, {2}};",
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
        "macro-effect",
        "Macros have an effect in the region that its result cannot have: it uses `__COUNTER__` or the time, whose "
        "values depend on how often and when they are used; it defines macros and has `#if`; it includes a file with "
        "statements; or a target that writes other files would meet a macro with the name of a variable.",
        "Set a variable before the region and use that; define macros before the region; end a macro with `#undef`.",
        "a[i] = i + __COUNTER__;",
    ),
    _refusal(
        "nesting-too-deep",
        "Loops are nested more than 24 deep, or expressions or blocks too deeply to be read.",
        "Move inner loops to a region of their own, or split the expression.",
    ),
    _refusal(
        "no-communicator",
        "With `--target mpi`, the program calls MPI itself, other regions name a communicator whose ranks hold the "
        "same data, and this one does not: its arrays may be each rank's own.",
        "Write `#pragma tilewright comm(EXPR)` before it, or give `--comm EXPR`, if all ranks hold the same data "
        "there.",
        "#pragma tilewright comm(MPI_COMM_WORLD)",
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
        "out-of-memory",
        "The analysis of the region takes more memory than it may have.",
        "Split the region, or simplify it.",
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
        "sunway-remainders",
        "With `--target sunway`: remainders tell which iterations of a statement run, in more than four cases. Cutting "
        "them into tiles takes too long.",
        "Compute a value for every iteration, and choose by `?:` between it and the old one.",
        "if (i % 3 != 0 && (i + j) % 5 != 2 && i != j) a[i][j] += 2;",
    ),
    _refusal(
        "sunway-shared",
        "With `--target sunway`: a variable declared in the region carries values between kernels and its "
        "size is not a constant.",
        "Declare it outside the region.",
    ),
    _refusal(
        "sunway-slower",
        "With `--target sunway`: by the timing model the compute cores would take longer than the management core, "
        "whatever the sizes are, so the region stays there. The message has both times.",
        "Nothing is wrong. Where sums may be added up in another order, `--reassociate` often helps; "
        "`--scheme launch` starts the cores all the same.",
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
        "The struct is not defined where the tool can see it, or has no such member.",
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
        "A volatile or atomic object is accessed, be it as a counter or in a function: each access counts, in the "
        "order written.",
        "Copy it to a plain variable before the region.",
        "extern volatile double ticks; ... A[i] = ticks;",
    ),
    _refusal(
        "while-loop",
        "A `while` or `do` loop has no known trip count.",
        "Rewrite it as a counted `for` loop.",
        "while (x > 1) x = x / 2;",
    ),
)
