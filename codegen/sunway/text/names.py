"""Returns the names of an isl map's input and output tuples."""

from __future__ import annotations

import islpy as isl


def tuple_names(m: isl.Map) -> tuple[str, str]:
    return str(m.get_tuple_name(isl.dim_type.in_)), str(m.get_tuple_name(isl.dim_type.out))
