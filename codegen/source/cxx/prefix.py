"""The prefix of names that stand for overloaded functions of C++'s standard library."""

STD = "__tw_std_"  # before names of functions that the types of their arguments choose
