"""`tilewright-cc`: the tool in place of a compiler."""
