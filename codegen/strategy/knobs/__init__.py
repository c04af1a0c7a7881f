"""What can be changed about the directives of each technique: the rows of the table of techniques name these.

    knob.py      a knob, and the plain kinds of them
    tiles.py     lengths of tiles, and tiles where there are none
    nests.py     nests of a plan that directives can be added for
    orders.py    other orders of a nest
    rows.py      rows side by side, and vectors of the innermost loop
    threads.py   the loop that threads share
    products.py  blocks, register tiles and panels of products
"""
