"""Tuning: loop trees of one contraction, actions on them, what a policy sees of them, code for them, and searches.

The types, in the order in which they are used (each file says more):

    contraction.py  Contraction            sizes of named variables, subscripts of A, B and C, element type
                    matmul(m, n, k)        C[i,j] += A[i,k] * B[k,j]; `parse`/`show`: one line of text
    tree.py         Loop(var, size, tail, pack)    covers size * (what is inside) + tail values of var
                    Tree(problem, compute, write, cursor)    two loop nests that share a prefix, and a cursor
                    start(problem), show(tree), parse(text, problem), key(tree)   key: what the code depends on
    actions.py      Action, ACTION_SETS["v1"] (seven), ["v2"] (more)
                    apply(tree, action) -> Tree | None       exact semantics; None: not possible
                    legal(tree, actions, lanes, limit) -> tuple of bools     what a policy may choose
    observe.py      observe(tree) -> 200 numbers (NumPy);  histogram(...)
    graph.py        graph(tree) -> nodes and edges, with strides
    measure/texts.py c_for(tree, isa, name, options) -> C text of exactly this loop order
    measure/        Measurer(effort=Effort(busy=True), cache=FILE): a value; .figures(trees), .peak(), .confirm(winner)
    cost.py         Model(machine, isa): a value that runs nothing
    search/         run(METHODS[name], start, value, Budget(60.0), progress, Space("v1")) -> Found(best, value, history)
    environment.py  Scheduling(problems, value, peak): a Gymnasium environment

A *value* is any function from a batch of trees to figures, greater is better and None is a failure: measured GFLOPS, a
cost model, or a learned estimate. Trees are plain immutable values: keep them in sets, send them to other processes.
"""
