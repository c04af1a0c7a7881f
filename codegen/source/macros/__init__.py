"""Macros and conditionals of the preprocessor inside regions."""
