"""What a run takes from what earlier ones have kept (`use`), and keeps for those that follow (`keep`)."""

from __future__ import annotations

from codegen.startup import files, modules

_patterns: bool | None = None  # were any kept when this process began? None: it takes nothing from others


def use() -> None:
    """From now on modules and patterns that are kept are taken from there."""
    global _patterns
    modules.use()
    from codegen.startup import regexes  # as one that is kept

    _patterns = regexes.use()


def keep() -> None:
    """Write down what is not kept yet: a child what it has loaded, and its parent the rest."""
    if _patterns is None or not files.may_keep():
        return
    from codegen.startup import regexes

    if not _patterns and not regexes.are_kept():
        regexes.keep()
    if modules.could_be_kept():
        modules.keep()
