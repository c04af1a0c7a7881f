"""The `RegionSlice` record: a region, the C text to parse for it, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable

from codegen.diagnostics import InternalError, Loc, TilewrightError, Unsupported, fault
from codegen.record import record
from codegen.scop.dialect import STANDARD, Dialect
from codegen.source.language import C, Language
from codegen.source.regions import Region


@record
class KeptDeclaration:
    """One kept declaration: slice.text[begin:end]. `body` is the offset of a kept function body, or -1."""

    begin: int
    end: int
    body: int = -1


@record
class Piece:
    """Statements `first` up to `after` of a region or, with a path, of a block in it (`symbols.part_of`).

    text[begin:end] of the file holds just these, whole lines where they begin and end some. Where they are `bare`, they
    have no braces around them and need some.
    """

    number: int
    first: int
    after: int
    begin: int
    end: int
    path: tuple[tuple[int, int], ...] = ()
    bare: bool = False


@record
class MacroScope:
    """What a region and macros have to do with each other.

    protected    names in what it was read as that are macros where its result is
    directives   those of the region that take effect behind it
    line         the number of the first line between its pragmas, if `__LINE__` is used there; else 0
    refusal      why it stays as it is, if so
    """

    protected: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    line: int = 0
    refusal: Unsupported | None = None


UNSEEN_JUMP = "goto"  # among the identifiers that are hidden where code may be left out that jumps, or is no statement


@record
class RegionSlice:
    """A region and the text to parse for it.

    function        name of the function around the region
    pure_functions  functions declared with the attribute const
    hidden          identifiers in parts of the function that the parser will not see; they may be live there
    thread_private  variables of which each thread has its own by a pragma
    parts           the declarations of the text; root is the index of the function's
    span            where the region, its pragmas included, lies in the text
    line            the line of the preprocessed text that the region begins on, counted from 0
    named           the same with macros by their names, if some keep them; in it `values` are what they stand for
    refusal         why there is no text, if so
    piece           which piece of the region is meant; None: all of it
    language        of the file; the text is C
    scope           C++: the namespaces around the function; `usings` are declarations in it that make names visible,
                    `objects` members and references, as declarations of variables
    enum_types      how enums are represented, by their first enumerators, where it is not by their values alone
    macros          names that a macro has: what is called so in the result may become something else
    dialect         what the compiler's flags make of C here
    around          names that are macros around it, and directives in it
    """

    region: Region
    text: str
    file: str
    function: str = ""
    pure_functions: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    parts: tuple[KeptDeclaration, ...] = ()
    root: int = -1
    span: tuple[int, int] = (0, 0)
    line: int = 0
    refusal: Unsupported | InternalError | None = None
    thread_private: frozenset[str] = frozenset()
    named: RegionSlice | None = None
    values: tuple[tuple[str, str], ...] = ()
    piece: Piece | None = None
    language: Language = C
    scope: tuple[str, ...] = ()
    usings: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    macros: frozenset[str] = frozenset()
    dialect: Dialect = STANDARD
    around: MacroScope = MacroScope()
    enum_types: tuple[tuple[str, str], ...] = ()


def guarded(region: Region, file: str, work: Callable[[], RegionSlice]) -> RegionSlice:
    """What `work` cuts out for a region. Where the tool fails at that, the other regions go on."""
    try:
        return work()
    except TilewrightError:
        raise
    except Exception as error:
        loc = Loc(file, region.first_line, 1)
        return RegionSlice(region, "", file, refusal=InternalError("internal-error", fault(error), loc))


def outside_function(region: Region, file: str, loc: Loc) -> RegionSlice:
    return RegionSlice(region, "", file, refusal=Unsupported(
        "region-outside-function", "the region does not lie within one function body", loc,
        "put both pragmas inside the same function"))


def not_plain(region: Region, file: str, loc: Loc, what: str) -> RegionSlice:
    """A region with something in it that is no C, such as assembly."""
    return RegionSlice(region, "", file, refusal=Unsupported(
        "parse-error", f"{what} inside the region", loc, "move it out of the region; regions are plain C"))
