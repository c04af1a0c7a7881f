"""Tuning any region: candidates are plans around the tool's own, carried out, proven, compiled and run.

    region.py    a region opened for tuning: its model, and how to call it
    bases.py     whole plans to start from: the tool's own, and what it would have done under other settings
    repair.py    what else changes with that, such as names of loops
    space.py     points (a base, a choice for each knob of the techniques in it) and the plan of each
    learned/     a cost model of plans, learned from records
    prior.py     which point to try first: that model, corrected by measurements
    build.py     a plan made into a shared object, by the same way as `gen` goes
    bench.py     running the region: original, candidates, and the confirming run
    study.py     measuring candidates within a budget, with a memory
    search/      the ways to search, on one interface; trees.py: those on loop trees
    contractions.py   loop trees and plans of a region that is one product
    tuner.py     all of it for one region
"""
