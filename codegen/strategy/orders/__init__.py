"""The order of loops: isl's scheduler, fusion and distribution, which loop is innermost."""
