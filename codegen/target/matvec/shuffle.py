"""C text that transposes a square block of vectors in registers by shuffles, and the lane orders of a horizontal
reduction.

Within 128 bits lanes are interleaved, as all instruction sets can; wider vectors then exchange whole 128-bit parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codegen.isa.model import C_TYPES, Isa, bits_of
from codegen.isa.widths import WIDTHS, is_open, lanes_at

PART_BITS = 128
Mix = Callable[[str, str, Sequence[int]], str]


def macro(isa: Isa, elem: str) -> str:
    """The name of the shuffle of one element type: two vectors and the lanes of the result, counted through both."""
    return f"{isa.vec(elem).vector}_pick".upper() if is_open(isa) else f"{isa.prefix}_shuffle_{elem}".upper()


def definition(isa: Isa, elem: str) -> str:
    """The shuffle as a macro, since lane numbers must be constants. gcc has a form of its own up to version 11."""
    name, vector, size = macro(isa, elem), isa.vec(elem).vector, isa.bits // 8
    plain, order = f"{isa.prefix}_plain_{elem}", f"{isa.prefix}_order_{elem}"
    return f"""typedef {C_TYPES[elem]} {plain} __attribute__((vector_size({size})));
#if defined(__clang__) || __GNUC__ >= 12
#define {name}(x, y, ...) \\
  (({vector})__builtin_shufflevector(({plain})(x), ({plain})(y), __VA_ARGS__))
#else
typedef int{bits_of(elem)}_t {order} __attribute__((vector_size({size})));
#define {name}(x, y, ...) \\
  (({vector})__builtin_shuffle(({plain})(x), ({plain})(y), ({order}){{ __VA_ARGS__ }}))
#endif"""


def shuffle(isa: Isa, elem: str, x: str, y: str, order: Sequence[int]) -> str:
    """C text of a vector made of lanes of x and y."""
    return f"{macro(isa, elem)}({x}, {y}, {', '.join(map(str, order))})"


def transpose(isa: Isa, elem: str, rows: Sequence[str], stem: str) -> tuple[list[tuple[str, str]], list[str]]:
    """New vectors that transpose a square block, as names and values, and the names of its columns. Names begin with
    `stem`."""
    lanes = len(rows)
    part = min(lanes, PART_BITS // bits_of(elem))
    made: list[tuple[str, str]] = []

    def mix(x: str, y: str, order: Sequence[int]) -> str:
        name = f"{stem}{len(made)}"
        made.append((name, shuffle(isa, elem, x, y, order)))
        return name

    groups = [_transposed_within_parts(list(rows[k : k + part]), lanes, mix) for k in range(0, lanes, part)]
    columns = [""] * lanes
    for c in range(part):
        for k, name in enumerate(_transposed_parts([g[c] for g in groups], part, mix)):
            columns[k * part + c] = name
    return made, columns


def _transposed_within_parts(rows: list[str], lanes: int, mix: Mix) -> list[str]:
    """Turn the square blocks that stand side by side in these rows: interleave halves until all rows have met."""
    part = len(rows)
    half = part // 2
    low = [x for start in range(0, lanes, part) for i in range(half) for x in (start + i, lanes + start + i)]
    high = [x + half for x in low]
    for _ in range(part.bit_length() - 1):
        pairs = [(rows[i], rows[i + half]) for i in range(half)]
        rows = [mix(x, y, order) for x, y in pairs for order in (low, high)]
    return rows


def _transposed_parts(rows: list[str], part: int, mix: Mix) -> list[str]:
    """Turn a square block whose elements are parts of `part` lanes."""
    count = len(rows)
    step = 1
    while step < count:
        for i in (i for i in range(count) if not i & step):
            first = [x if not x & step else count + x - step for x in range(count)]
            second = [x + step if not x & step else count + x for x in range(count)]
            pair = (rows[i], rows[i + step])
            rows[i], rows[i + step] = (mix(*pair, _lanes(order, part)) for order in (first, second))
        step *= 2
    return rows


def _lanes(parts: Sequence[int], size: int) -> list[int]:
    return [p * size + i for p in parts for i in range(size)]


def rotations(lanes: int) -> list[list[int]]:
    """Orders that bring to every lane the one half a vector away, then a quarter, and so on."""
    steps = [lanes >> k for k in range(1, lanes.bit_length())]
    return [[(i + step) % lanes for i in range(lanes)] for step in steps]


# -- vectors whose width is left open ---------------------------------------------------------------


def transpose_open(isa: Isa, elem: str, block: str) -> list[str]:
    """Statements that transpose a square block of vectors in place, whatever their width: halves of 128-bit parts are
    interleaved until all rows of a part have met, then wider vectors exchange every second part, and those of four
    parts once more, with rows twice as far apart."""
    vector, lanes = isa.vec(elem).vector, isa.vec(elem).lanes
    part = lanes_at(elem, PART_BITS // 8)
    out = list[str]()
    apart = part // 2
    while apart:
        first = "r" if apart == 1 else "r + i"
        inner = "" if apart == 1 else f" TW_UNROLL for (int i = 0; i < {apart}; i++)"
        out += [f"TW_UNROLL for (int r = 0; r < {lanes}; r += {2 * apart}){inner} {{"]
        out += [*_exchanged(vector, block, (first, f"{first} + {apart}"), interleaved(elem)), "}"]
        apart //= 2
    inner = f"TW_UNROLL for (int i = 0; i < {part}; i++)"
    out += [f"TW_UNROLL for (int r = 0; r < {lanes} - {part}; r += {2 * part}) {inner} {{"]
    out += [*_exchanged(vector, block, ("r + i", f"r + i + {part}"), in_turn(elem)), "}"]
    out += [f"TW_UNROLL for (int r = 0; r < {lanes} - {2 * part}; r++) {{"]
    return [*out, *_exchanged(vector, block, ("r", f"r + {2 * part}"), in_turn(elem)), "}"]


def _exchanged(vector: str, block: str, rows: tuple[str, str], macros: tuple[str, str]) -> list[str]:
    """Two rows as what two macros make of them."""
    first, second = (f"{block}[{row}]" for row in rows)
    made = [f"{x} = {m}(low, high);" for m, x in zip(macros, (first, second), strict=True)]
    return [f"  const {vector} low = {first}, high = {second};", f"  {' '.join(made)}"]


def interleaved(elem: str) -> tuple[str, str]:
    """Macros: the first halves of two vectors' 128-bit parts, an element of each in turn, and the second halves."""
    return f"TW_{elem.upper()}_ZIP_LOW", f"TW_{elem.upper()}_ZIP_HIGH"


def in_turn(elem: str) -> tuple[str, str]:
    """Macros: of two vectors' 128-bit parts the first of every two, those of one vector behind those of the other, and
    the second. Taken twice, they turn 4 x 4 parts by instructions that need no places in registers."""
    return f"TW_{elem.upper()}_EVEN", f"TW_{elem.upper()}_ODD"


def open_definition(isa: Isa, elem: str) -> str:
    """The macros that `transpose_open` uses, for each width."""
    out = list[str]()
    for k, width in enumerate(reversed(WIDTHS)):
        lanes = lanes_at(elem, width)
        last = width == WIDTHS[0]
        out.append("#else" if last else f"#{'elif' if k else 'if'} {isa.vec(elem).lanes} == {lanes}")
        for name, order in zip((*interleaved(elem), *in_turn(elem)), _orders(elem, lanes), strict=True):
            out.append(f"#define {name}(x, y) {macro(isa, elem)}(x, y, {', '.join(map(str, order))})")
    return "\n".join([*out, "#endif"])


def _orders(elem: str, lanes: int) -> list[list[int]]:
    part = lanes_at(elem, PART_BITS // 8)
    low = [x for at in range(0, lanes, part) for i in range(part // 2) for x in (at + i, lanes + at + i)]
    step = min(part, lanes // 2)  # vectors of one part have no second: there it is not used
    even = [x for at in range(0, 2 * lanes, 2 * step) for x in range(at, at + step)]
    return [low, [x + part // 2 for x in low], even, [x + step for x in even]]
