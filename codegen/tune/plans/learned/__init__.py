"""A cost model of plans for any region, learned from records of measurements.

    facts.py     what does not change from plan to plan: statements, work and accesses at the measured sizes
    nests.py     the loops around each statement as the directives of a plan leave them, without carrying it out
    traffic.py   lines that each cache has to fetch for a statement in its nest, and cycles
    traits.py    some eighty numbers about a plan, relative to the processor
    forest.py    sums of small decision trees, in plain Python
    model.py     PlanModel: how a plan compares with the default plan, without a measurement
    fit.py       how the trees are made; needs NumPy
    __main__.py  `python -m codegen.tune.plans.learned`: fits the model that the package ships to records
"""
