"""C++ sources: a tolerant scanner that finds the function around a region and the few declarations that it needs, and
writes them as C. Whatever is not surely C is refused by name; nothing else of C++ is understood."""
