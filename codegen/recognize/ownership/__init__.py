"""Who owns which element: when an array element is used by one thread only, and how to arrange for that.

A nest runs in blocks, a block on threads. The tests, cheap ones first: `linear.py` (subscript matrices alone),
`exact.py` (isl, the judge); `decide.py` puts them in order and says why; `classes.py` tells apart blocks that answer
differently; `search.py` chooses thread loops and register tiles. `extract.py` takes it all from a schedule tree.
"""
