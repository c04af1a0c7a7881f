"""KernelIR: the typed representation of the code that is generated, between the loop tree and the text."""
