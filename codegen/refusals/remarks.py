"""The table of warnings, notes, remarks, and faults of the tool itself by id (`REMARKS`): what each means, and what to
do."""

from __future__ import annotations

from codegen.refusals.entry import INTERNAL, NOTE, REMARK, WARNING, Entry

REMARKS: tuple[Entry, ...] = (
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
        "data-scope",
        WARNING,
        "Between `#pragma tilewright data` and `#pragma tilewright end data` stands something with which arrays cannot "
        "stay on the device: a way out, a directive, an array that ends there, or a call in a condition. Every region "
        "copies its arrays as if the pragmas were not there.",
        "Keep whole statements of one block between the pragmas; give calls statements of their own.",
        "#pragma tilewright data ... return; ... #pragma tilewright end data",
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
        "no-dispatch",
        WARNING,
        "With `--dispatch`, a function gets no versions for instruction sets, because a copy of it could mean "
        "something else than the function itself, or cannot be called as it is.",
        "Put the region into a function of its own that has nothing of the kind.",
        "static int calls; ... #pragma scop",
    ),
    Entry(
        "no-effect",
        WARNING,
        "An option was given that the target does not look at, or twice with different words: the last counts.",
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
        "unproven",
        WARNING,
        "A faster plan of the tool's own was given up, since it, or the text that was printed for it, could not be "
        "proven. The result is right, but slower than it could be. This is a fault of the tool.",
        "Please report it with the nest. Until then, writing the nest in another way may help; the message says what "
        "the proof could not read.",
        "C[a][b][c] += A[a][d] * B[b][d][c];",
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
    Entry("column-panels", REMARK, "A block of columns changes those beyond it panel by panel, each in one piece.", ""),
    Entry(
        "conditional-nest",
        REMARK,
        "An `#if` begins in a nest and ends outside of it, or the other way round, so `--auto` leaves it as it is.",
        "Put the `#if` around whole loops.",
        "#ifdef BOTH ... for (i = 0; i < n; i++) { ... #else ... for (i = 1; i < n; i++) { ... #endif ... }",
    ),
    Entry(
        "data-home",
        REMARK,
        "A statement of the host may use arrays that stay on the device. What the host has not got is copied home "
        "ahead of it; where it may write, the device gets the arrays anew afterwards.",
        "Move it out of the loop, or give `--assume-no-alias` where pointers lead to other arrays.",
        "#pragma tilewright data ... printf(\"%g\", u[0]); ... #pragma tilewright end data",
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
        "The first plan took too much work or memory, and a simpler one was used.",
        "Nothing needs to be done; the simpler plan is proven.",
    ),
    Entry(
        "few-threads",
        REMARK,
        "The text has further ways for programs with few threads, which ask at run time how many they have: on one "
        "thread, strips of a matrix serve all its products while they are in the cache; on two to four, threads follow "
        "each other along lines that are read once for two products, or share the products of wider strips.",
        "",
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
        "predicted",
        REMARK,
        "How many times as fast the compute cores of a core group are as its management core, by the timing model, and "
        "up to which sizes they are not.",
        "`inspect --target sunway --sizes ...` shows it for sizes of your own.",
    ),
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
    Entry(
        "substituted",
        REMARK,
        "A temporary is a name for a part of a product's step: its value is computed where it is read.",
        "",
        "double t = A[i][k] + B[k][j]; if (t < C[i][j]) C[i][j] = t;",
    ),
    Entry(
        "technique",
        REMARK,
        "Several techniques suit a nest: which one is taken, and what an iteration is predicted to cost with each.",
        "",
    ),
    Entry("thread-loop", REMARK, "Which of several loops is shared out to threads, and what they own.", ""),
    Entry("tiled", REMARK, "Loops were cut into tiles.", ""),
    Entry("time-tiles", REMARK, "Tiles take many steps of a sweep over a grid while a part of it is in cache.", ""),
    Entry("vector", REMARK, "A loop is marked for the vectorizer.", ""),
    Entry("wavefront", REMARK, "Tiles depend on one another; threads follow each other through them.", ""),
    Entry(
        "internal-error",
        INTERNAL,
        "The tool failed; the message names a folder with all that is needed to repeat it. Where that was at one "
        "region, this region alone is left as it is, and the message is a note of `region-refused`; else nothing is "
        "written.",
        "Report it.",
    ),
    Entry(
        "worker-died",
        INTERNAL,
        "The process that analyses a region ended without an answer. The region is left as it is.",
        "Report it; splitting the region may avoid it.",
    ),
)
