"""The prefix that the translation of C++ (body.py, writer.py) gives to calls of overloaded functions of the standard
library; frontend/statements/overloads.py then chooses the C function by the types of the arguments."""

STD = "__tw_std_"  # before names of functions that the types of their arguments choose
