"""The polyhedral model of a region, held by isl."""

from codegen.scop.islpy_loading import load_islpy

load_islpy()  # before any module here imports islpy
