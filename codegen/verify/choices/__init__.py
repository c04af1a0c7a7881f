"""Texts that compilers or programs choose from: for every choice they are what was proven for it."""
