"""The instruction sets that kernels can be written for; their tables are in target/isa/data."""

ISAS = ("generic", "neon", "sve", "avx2", "avx512")
