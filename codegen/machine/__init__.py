"""Processor descriptions: what a machine is, the built-in ones, and finding out about this one."""
from codegen.machine.load import load, load_for, names
from codegen.machine.model import Cache, Machine

__all__ = ["Cache", "Machine", "load", "load_for", "names"]
