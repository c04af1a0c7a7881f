"""Integer expressions, sets and relations with uninterpreted functions: the language of format descriptors."""
