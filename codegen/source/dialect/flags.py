"""The table of flags of gcc and clang that change what C means: each sets named facts, of which the last word counts.
Facts are modelled (`MODELLED`), refuse a region (`REFUSED`), or take back one of these. Flags that are not here change
how the compiler works, and not what a program means; those of `HARMLESS` could be taken for others, with the reason."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.record import record


@record
class Flag:
    """Flags by a pattern of the whole word, and the facts that they set."""

    words: str
    sets: Mapping[str, bool]


# Facts as `scop/dialect.py` has them, and what holds without any flag.
MODELLED: Mapping[str, bool] = {
    "wraps": False,
    "typed_memory": True,
    "short_enums": False,
    "known_library": True,
    "math_errno": True,
    "finite_loops": True,
    "narrow": False,
    "openmp": False,
}

# Facts under which a region stays as it is: why, and what to do.
REFUSED: Mapping[str, tuple[str, str]] = {
    "traps": (
        "signed overflow stops the program there, which vectors do not",
        "compile the file without it; -fwrapv and -fsanitize=signed-integer-overflow are understood",
    ),
    "call_exceptions": (
        "loads, stores and arithmetic may throw, in the order of the source",
        "compile the file without it",
    ),
    "rounding": (
        "the program may change how numbers are rounded, which it does for its own thread alone",
        "compile the functions that do so in another file, and this one without it",
    ),
    "exceptions": (
        "the program may ask which exceptions arithmetic raised, and threads and vectors raise others",
        "compile the functions that do so in another file, and this one without it",
    ),
    "signaling_nans": (
        "each operation on numbers counts, also those whose result nobody uses",
        "compile the file without it",
    ),
    "extended_precision": (
        "intermediate results have more digits than their type, those of vectors have not",
        "compile with SSE2's arithmetic, -mfpmath=sse",
    ),
    "single_constants": (
        "constants such as 0.1 are of type float, which the model takes for double",
        "write 0.1f for constants of type float, and compile without it",
    ),
    "packed": (
        "members of structs lie where their types do not allow it",
        "compile without it; declare structs packed that have to be",
    ),
    "other_charset": (
        "character constants such as 'a' have other values than those of ASCII",
        "compile the file without it",
    ),
    "other_byte_order": (
        "members of structs have another byte order than their types",
        "compile the file without it",
    ),
    "before_c99": (
        "generated code is C99",
        "compile it with -std=gnu99 or newer",
    ),
    "other_long_double": (
        "`long double` has another size than the model counts on",
        "compile the file without it",
    ),
}

# Those of them that are about floating-point arithmetic.
OF_REALS = frozenset(("rounding", "exceptions", "signaling_nans", "extended_precision", "single_constants"))

_FINITE = "no NaN or infinity: generated code asks for none, and keeps more rules of arithmetic than it has to"
_LICENCE = "allows the compiler what generated code does not make use of"

FLAGS: tuple[Flag, ...] = (
    Flag("-fwrapv", {"wraps": True, "traps": False}),
    Flag("-fno-wrapv", {"wraps": False}),
    Flag("-ftrapv", {"traps": True, "wraps": False}),
    Flag("-fno-trapv", {"traps": False}),
    Flag("-fno-strict-overflow", {"wraps": True, "traps": False}),
    Flag("-fstrict-overflow", {"wraps": False}),
    Flag("-fno-strict-aliasing", {"typed_memory": False}),
    Flag("-fstrict-aliasing", {"typed_memory": True}),
    Flag("-fshort-enums", {"short_enums": True}),
    Flag("-fno-short-enums", {"short_enums": False}),
    Flag("-fno-builtin|-ffreestanding|-fno-hosted", {"known_library": False}),
    Flag("-fbuiltin|-fhosted|-fno-freestanding", {"known_library": True}),
    Flag("-fno-math-errno", {"math_errno": False}),
    Flag("-fmath-errno", {"math_errno": True}),
    Flag("-ffast-math|-Ofast|-ffp-model=(fast|aggressive)",
         {"math_errno": False, "rounding": False, "exceptions": False, "signaling_nans": False}),
    Flag("-fno-fast-math", {"math_errno": True}),
    Flag("-fno-finite-loops", {"finite_loops": False}),
    Flag("-ffinite-loops", {"finite_loops": True}),
    Flag("-(f|q)openmp(=.*)?", {"openmp": True}),
    Flag("-fno-openmp", {"openmp": False}),
    Flag("-fnon-call-exceptions", {"call_exceptions": True}),
    Flag("-fno-non-call-exceptions", {"call_exceptions": False}),
    Flag("-frounding-math", {"rounding": True}),
    Flag("-fno-rounding-math", {"rounding": False}),
    Flag("-ftrapping-math|-ffp-exception-behavior=(strict|maytrap)", {"exceptions": True}),
    Flag("-fno-trapping-math|-ffp-exception-behavior=ignore", {"exceptions": False}),
    Flag("-ffp-model=strict", {"rounding": True, "exceptions": True}),
    Flag("-ffp-model=precise", {"rounding": False, "exceptions": False}),
    Flag("-fsignaling-nans", {"signaling_nans": True}),
    Flag("-fno-signaling-nans", {"signaling_nans": False}),
    Flag("-mfpmath=(387|both|387[,+]sse|sse[,+]387)|-mno-sse2?", {"extended_precision": True}),
    Flag("-mfpmath=sse|-msse[2-9].*|-mavx.*", {"extended_precision": False}),
    Flag("-fsingle-precision-constant|-cl-single-precision-constant", {"single_constants": True}),
    Flag("-fno-single-precision-constant", {"single_constants": False}),
    Flag("-fpack-struct(=[1-7])?", {"packed": True}),
    Flag("-fno-pack-struct|-fpack-struct=(8|16|32|64)", {"packed": False}),
    Flag("-fexec-charset=(?!(?i:utf-?8|us-ascii|ascii|iso-?8859-1|latin-?1)$).*", {"other_charset": True}),
    Flag("-fexec-charset=(?i:utf-?8|us-ascii|ascii|iso-?8859-1|latin-?1)", {"other_charset": False}),
    Flag("-fsso-struct=(big|little)-endian", {"other_byte_order": True}),
    Flag("-fsso-struct=native", {"other_byte_order": False}),
    Flag("-m(32|x32|16)|-mabi=(ilp32.*|32|n32|o64|eabi)", {"narrow": True}),
    Flag("-m64|-mabi=(lp64.*|64|sysv|ms)", {"narrow": False}),
    Flag("-std=((c|gnu)(89|90)|iso9899:(1990|199409))|-ansi", {"before_c99": True}),
    Flag("-std=(c|gnu|iso9899:)(99|9x|1[0-9x]|2[0-9x]|199|20).*", {"before_c99": False}),
    Flag("-mlong-double-(64|80|128)|-mabi=(ibm|ieee)longdouble", {"other_long_double": True}),
)  # fmt: skip

# Flags that sound as if they changed more, and why they do not.
HARMLESS: Mapping[str, str] = {
    "-f(no-)?wrapv-pointer": "subscripts are exact in 64 bits, and no object lies around the end of memory",
    "-f(no-)?(un)?signed-char": "a plain char is modelled as either",
    "-f(no-)?(un)?signed-bitfields": "bit-fields are not modelled",
    "-f(no-)?short-wchar": "the preprocessed text says which type wchar_t is",
    "-f(no-)?delete-null-pointer-checks": "no pointer is read that the source does not read",
    "-f(no-)?isolate-erroneous-paths-(dereference|attribute)": "as above",
    "-f(no-)?(finite-math-only|honor-nans|honor-infinities)": _FINITE,
    "-f(no-)?(associative-math|reciprocal-math|signed-zeros|unsafe-math-optimizations|approx-func)": _LICENCE,
    "-f(no-)?cx-(limited-range|fortran-rules|method=.*)": _LICENCE,
    "-ffp-contract=.*": "options.py asks for it",
    "-f(no-)?excess-precision=.*|-f(no-)?float-store": "without the arithmetic of the 387 there is no more precision",
    "-f(no-)?sanitize(-.*)?=.*|-f(no-)?sanitize-.*": "looks for errors; programs without any mean the same",
    "-f(no-)?openmp-simd": "directives on vectors have no effect on results",
    "-f(no-)?gnu89-inline": "bodies of a function have one meaning",
    "-std=.*|-ansi": "the preprocessor knows it, and generated code asks for C99",
    "-O(|[0-3]|s|z|g)": "how the compiler works, and macros that the preprocessor knows",
    "-f(no-)?strict-volatile-bitfields": "bit-fields are not modelled",
    "-m(no-)?(ms-bitfields|align-double)": "generated code leaves the layout of structs to the compiler",
}
