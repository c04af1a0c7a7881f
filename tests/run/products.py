"""Functions that are products, for test_products.py: every one is called with three sizes and three buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

REALS = ("double", "float")
INTEGERS = ("int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t")


@dataclass(frozen=True)
class Case:
    """`types` are the elements of the three buffers, of which the first is the result.

    `data` is "any" (all bit patterns of integers, infinities and the like) or "small"; with `signless`, zeros of both
    signs are the same. `blocked` tells whether the tool must find a product in it.
    """

    name: str
    text: str
    types: tuple[str, str, str]
    data: str = "any"
    signless: bool = False
    blocked: bool = True


NEST = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        """


def region(name: str, body: str, c: str, a: str, b: str) -> str:
    """A function around a region; `c`, `a` and `b` declare the arrays."""
    return (
        f"void {name}(int n, int m, int l, {c}, {a}, {b})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    )


def plain(name: str, step: str, types: tuple[str, str, str], **more: object) -> Case:
    """C of n x m elements, A of n x l and B of l x m."""
    c, a, b = types
    text = region(name, NEST + step, f"{c} C[restrict n][m]", f"{a} A[restrict n][l]", f"{b} B[restrict l][m]")
    return Case(name, text, types, **more)  # type: ignore[arg-type]


def shaped(name: str, body: str, c: str, a: str, b: str, elem: str = "double", **more: object) -> Case:
    """Arrays of any shape; `c`, `a` and `b` are what follows the element type."""
    return Case(name, region(name, body, f"{elem} {c}", f"{elem} {a}", f"{elem} {b}"), (elem,) * 3, **more)  # type: ignore[arg-type]


def loops(*heads: str) -> str:
    """Nested `for` headers: "i:0:n" runs up, "k:n:0:-" runs down from n - 1 to 0."""
    out = []
    for depth, head in enumerate(heads):
        name, first, past, *down = head.split(":")
        pad = "  " * (depth + 1)
        if down:
            out.append(f"{pad}for (int {name} = {first} - 1; {name} >= {past}; {name}--)\n")
        else:
            out.append(f"{pad}for (int {name} = {first}; {name} < {past}; {name}++)\n")
    return "".join(out) + "  " * (len(heads) + 1)


def semirings() -> Iterator[Case]:
    """Operators of all kinds, in all types."""
    number = 0
    for t in (*REALS, *INTEGERS):
        real = t in REALS
        f = "f" if t == "float" else ""
        steps = [
            "C[i][j] += A[i][k] * B[k][j];",
            "C[i][j] -= A[i][k] * B[k][j];",
            "C[i][j] = A[i][k] + B[k][j] < C[i][j] ? A[i][k] + B[k][j] : C[i][j];",
            "C[i][j] = C[i][j] > A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];",
            "C[i][j] = A[i][k] * B[k][j] > C[i][j] ? A[i][k] * B[k][j] : C[i][j];",
            "if (A[i][k] * B[k][j] < C[i][j]) C[i][j] = A[i][k] * B[k][j];",
            "C[i][j] = MIN(C[i][j], MAX(A[i][k], B[k][j]));",
            "C[i][j] = MAX(C[i][j], MIN(A[i][k], B[k][j]));",
        ]
        if real:
            steps += [
                f"C[i][j] = fmin{f}(C[i][j], A[i][k] + B[k][j]);",
                f"C[i][j] = fmax{f}(C[i][j], A[i][k] / B[k][j]);",
                f"C[i][j] += 0.5{f} * A[i][k] * B[k][j];",
            ]
        else:
            steps += [
                "C[i][j] |= A[i][k] & B[k][j];",
                "C[i][j] ^= A[i][k] | ~B[k][j];",
                "C[i][j] = C[i][j] || (A[i][k] && B[k][j]);",
                "C[i][j] += 3 * (A[i][k] ^ 5) * B[k][j];",
            ]
        for step in steps:
            number += 1
            narrow = not real and t[-4:-2] != "64" and t[-4:-2] != "32"
            # In C, what overflows a signed type is undefined; narrow types compute in int.
            data = "any" if real or t[0] == "u" or narrow else "small"
            if t == "uint16_t" and "*" in step:
                data = "small"  # int is too narrow for the product
            yield plain(f"ring{number}_{t}", step, (t, t, t), data=data, signless="fm" in step)


def extremes() -> Iterator[Case]:
    """Every way to write a minimum or maximum as a choice: they differ in what they make of NaN and -0.0."""
    number = 0
    for op in ("<", "<=", ">", ">="):
        for left, right in (("C[i][j]", "A[i][k] + B[k][j]"), ("A[i][k] * B[k][j]", "C[i][j]")):
            for yes, no in ((left, right), (right, left)):
                number += 1
                t = "double" if number % 2 else "float"
                yield plain(f"pick{number}", f"C[i][j] = {left} {op} {right} ? {yes} : {no};", (t, t, t))


def pairs() -> Iterator[Case]:
    """Steps of several pairs of operands: done in rounds where one small step is repeated, else together."""
    c, a, b = "C[restrict n][n]", "A[restrict n][n]", "B[restrict n][n]"
    sums = "C[i][j] += A[i][k] * B[k][j] + (A[i][k] + 1) * (B[k][j] - 2);"
    steps = (
        ("double", sums),
        ("int32_t", sums),
        ("int64_t", sums.replace("+=", "-=")),
        ("uint32_t", "C[i][j] -= A[i][k] * B[k][j] - (A[i][k] ^ 1) * (B[k][j] | 2);"),
        ("float", "C[i][j] = fminf(fminf(C[i][j], A[i][k] + B[k][j]), (A[i][k] - 1) + 2 * B[k][j]);"),
        ("uint8_t", "C[i][j] = C[i][j] ^ (A[i][k] & B[k][j]) ^ ((A[i][k] | 3) & (B[k][j] | 5));"),
        ("int16_t", "C[i][j] += A[i][k] * B[k][j] + (A[i][k] + 1) * (B[k][j] + 1) + (A[i][k] - 3) * (B[k][j] ^ 1);"),
    )
    for number, (t, step) in enumerate(steps):
        yield plain(f"pair{number}", step, (t, t, t), data="small", signless="fmin" in step)
    for number, head in enumerate((("i:0:n", "j:0:i + 1", "k:0:n"), ("i:0:n", "j:0:n", "k:0:i + 1"))):
        for t in ("double", "int32_t"):
            yield shaped(f"pairs_{number}_{t}", loops(*head) + sums, c, a, b, t, data="small")


def mixtures() -> Iterator[Case]:
    """Conversions: what is computed in which type, and where it is cut."""
    rows = (
        ("int32_t", "int8_t", "int8_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("int32_t", "uint8_t", "int8_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("int32_t", "int16_t", "int16_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("int16_t", "int8_t", "uint8_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("uint8_t", "int16_t", "int8_t", "C[i][j] += A[i][k] - 2 * B[k][j];"),
        ("int8_t", "int32_t", "int32_t", "C[i][j] += A[i][k] ^ B[k][j];"),
        ("int16_t", "int8_t", "int16_t", "C[i][j] = MAX(C[i][j], A[i][k] + B[k][j]);"),
        ("uint8_t", "uint8_t", "uint8_t", "C[i][j] = MIN(C[i][j], A[i][k] + B[k][j]);"),
        ("int64_t", "int32_t", "int64_t", "C[i][j] += (int64_t)A[i][k] * B[k][j];"),
        ("int64_t", "int16_t", "uint8_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("uint64_t", "uint32_t", "uint64_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("uint32_t", "uint8_t", "uint32_t", "C[i][j] = MIN(C[i][j], A[i][k] + B[k][j]);"),
        ("uint32_t", "int32_t", "uint32_t", "C[i][j] -= A[i][k] * B[k][j];"),
        ("int32_t", "uint32_t", "int32_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "float", "double", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "int32_t", "double", "C[i][j] += A[i][k] * B[k][j];"),
        ("float", "int64_t", "float", "C[i][j] += A[i][k] * B[k][j];"),
        ("float", "uint8_t", "float", "C[i][j] = A[i][k] * B[k][j] > C[i][j] ? A[i][k] * B[k][j] : C[i][j];"),
        ("double", "float", "float", "C[i][j] += (double)A[i][k] * (double)B[k][j];"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] += A[i][k] < B[k][j];"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] += A[i][k] == B[k][j] ? 1 : 0;"),
        ("double", "double", "double", "C[i][j] += A[i][k] > B[k][j];"),
        ("uint8_t", "uint8_t", "uint8_t", "C[i][j] = A[i][k] == B[k][j] ? C[i][j] + 1 : C[i][j];"),
        ("int16_t", "int16_t", "int16_t", "C[i][j] = C[i][j] && !(A[i][k] == B[k][j]);"),
        ("int64_t", "int64_t", "int64_t", "C[i][j] = A[i][k] > B[k][j] ? A[i][k] & C[i][j] : B[k][j] ^ C[i][j];"),
        ("long long", "long long", "long long", "C[i][j] += A[i][k] * B[k][j];"),
        ("unsigned long long", "int64_t", "unsigned long long", "C[i][j] += A[i][k] * B[k][j];"),
        ("int64_t", "int32_t", "int32_t", "C[i][j] += (int64_t)A[i][k] * B[k][j];"),
        ("uint64_t", "uint32_t", "uint32_t", "C[i][j] -= (uint64_t)A[i][k] * B[k][j];"),
        ("uint32_t", "uint16_t", "uint8_t", "C[i][j] += (uint32_t)A[i][k] * B[k][j];"),
        ("uint32_t", "int16_t", "uint16_t", "C[i][j] += (uint32_t)A[i][k] * B[k][j];"),
    )
    # Factors of half the width, with steps that some elements of a tile alone take.
    for c, a in (("int32_t", "int16_t"), ("uint64_t", "uint32_t")):
        body = loops("i:0:n", "j:0:n", "k:0:i + 1") + f"C[i][j] += ({c})A[i][k] * B[k][j];"
        square = "[restrict 50][50]"
        text = region(f"half_{c}", body, f"{c} C{square}", f"{a} A{square}", f"{a} B{square}")
        yield Case(f"half_{c}", text, (c, a, a), data="small")
    for number, (c, a, b, step) in enumerate(rows):
        wide = (c, a, b) in (("int32_t",) * 3, ("int64_t",) * 3) and "+=" not in step
        overflows = c[0] == "i" and c in ("int32_t", "int64_t") and not wide and "int8" not in a and "== B" not in step
        data = "small" if overflows or c == "long long" else "any"
        yield plain(f"mix{number}", step, (c, a, b), data=data)


def refused() -> Iterator[Case]:
    """What no vector of one type can do, or must not do: these come out right in another way."""
    rows = (
        ("float", "float", "float", "C[i][j] += 0.1 * A[i][k] * B[k][j];"),
        ("float", "double", "double", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "float", "float", "C[i][j] += A[i][k] * B[k][j];"),
        ("int32_t", "double", "double", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "int32_t", "int32_t", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "int32_t", "float", "C[i][j] += A[i][k] < B[k][j];"),
        ("uint64_t", "int32_t", "uint32_t", "C[i][j] += A[i][k] > B[k][j];"),
        ("int64_t", "int32_t", "uint32_t", "C[i][j] += A[i][k] < B[k][j];"),
        ("int64_t", "int64_t", "int64_t", "C[i][j] += (int32_t)(A[i][k] * B[k][j]);"),
        ("int64_t", "int64_t", "int64_t", "C[i][j] += (int16_t)(A[i][k] ^ B[k][j]);"),
        ("int32_t", "int32_t", "uint32_t", "C[i][j] = A[i][k] > B[k][j] ? A[i][k] : C[i][j];"),
        ("int32_t", "int64_t", "int64_t", "C[i][j] = MAX(C[i][j], A[i][k] + B[k][j]);"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] += A[i][k] / (B[k][j] | 1);"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] ^= A[i][k] >> (B[k][j] & 7);"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] += B[k][j] ? A[i][k] / (k - 2 ? k - 2 : 1) : 1;"),
        ("int32_t", "int32_t", "int32_t", "C[i][j] = (int64_t)(A[i][k] ^ B[k][j]) * 65536 * 65536 ? 1 : C[i][j];"),
        ("_Bool", "_Bool", "_Bool", "C[i][j] |= A[i][k] & B[k][j];"),
        ("char", "char", "char", "C[i][j] += A[i][k] * B[k][j];"),
        ("double", "double", "double", "C[i][j] += A[i][k] * B[k][j] * C[0][0];"),
    )
    for number, (c, a, b, step) in enumerate(rows):
        small = "/" in step or "C[0]" in step or (c == "int64_t" and "*" in step) or (c, a) == ("int32_t", "double")
        yield plain(f"other{number}", step, (c, a, b), data="small" if small else "any", blocked=False)


def shapes() -> Iterator[Case]:
    """Where the elements lie, and which of them take part."""
    multiply = "C[i][j] += A[i][k] * B[k][j];"
    c, a, b = "C[restrict n][m]", "A[restrict n][l]", "B[restrict l][m]"
    boxes = (
        (loops("k:0:l", "j:0:m", "i:0:n") + multiply, c, a, b),
        (loops("j:0:m", "k:0:l", "i:0:n") + multiply, c, a, b),
        (loops("i:n:0:-", "k:l:0:-", "j:m:0:-") + multiply, c, a, b),
        (loops("i:1:n", "j:2:m", "k:3:l") + multiply, c, a, b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[k][i] * B[k][j];", c, "A[restrict l][n]", b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[i][k] * B[j][k];", c, a, "B[restrict m][l]"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[j][i] += A[k][i] * B[j][k];", "C[restrict m][n]", "A[restrict l][n]",
         "B[restrict m][l]"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[n - 1 - i][k] * B[l - 1 - k][m - 1 - j];", c, a, b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[n - 1 - i][m - 1 - j] += A[i][k] * B[k][j];", c, a, b),
        (loops("i:0:n / 2", "j:0:m / 3", "k:0:l / 2") + "C[2 * i][3 * j] += A[2 * i + 1][2 * k] * B[2 * k][3 * j];",
         c, a, b),
        (loops("i:0:17", "j:0:n", "k:0:23") + multiply, "C[17][50]", "A[17][23]", "B[23][50]"),
        (loops("i:0:40", "j:0:40", "k:0:40") + multiply, "C[40][40]", "A[40][40]", "B[40][40]"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i * m + j] += A[i * l + k] * B[k * m + j];", "*restrict C",
         "*restrict A", "*restrict B"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[j * n + i] += A[k * n + i] * B[j * l + k];", "*restrict C",
         "*restrict A", "*restrict B"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[i + 1][k + 2] * B[k + 1][j];", "C[restrict n][m]",
         "A[restrict n + 1][l + 2]", "B[restrict l + 1][m]"),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[0][i][j] += A[i][k] * B[k][j] * (k + 1);", "C[restrict 1][n][m]", a, b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += (A[i][k] + i) * (B[k][j] - 2 * j);", c, a, b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[i][k] * A[i][0] * B[k][j] + A[0][k] * B[0][j];", c, a, b),
        (loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[i][k] * B[k][j] - A[i][l - 1 - k] * B[l - 1 - k][j];",
         c, a, b),
    )
    for number, (body, *arrays) in enumerate(boxes):
        yield shaped(f"box{number}", body, *arrays)
    tensors = (
        # Indices in the order of the loops, extents, subscripts of C, A and B.
        ("abk", "457", "ab", "ak", "kb"), ("abcd", "6789", "abc", "abd", "dc"), ("abcd", "5679", "abc", "dbc", "ad"),
        ("abcde", "34567", "abcd", "aebc", "de"), ("abcdef", "345345", "abcd", "aebf", "fdec"),
        ("abcdef", "453543", "abcd", "edfa", "bfce"), ("abcdefg", "3332433", "abcd", "geaf", "fbgcde"),
        ("abcdefgh", "33233323", "abcdef", "gahbc", "fedgh"), ("abcdefgh", "22232332", "hgfe", "dcbaef", "abcdgh"),
        # Rows that are read where they lie beside columns of two and three loops.
        ("abcd", "9787", "abc", "ad", "bdc"), ("abcde", "93547", "abcd", "ae", "bced"),
    )
    for number, (order, sizes, *subscripts) in enumerate(tensors):
        size = dict(zip(order, sizes, strict=True))
        heads = [f"{x}:0:{size[x]}" for x in order]
        elements = [f"{n}{''.join(f'[{x}]' for x in s)}" for n, s in zip("CAB", subscripts, strict=True)]
        arrays = [f"{n}{''.join(f'[{size[x]}]' for x in s)}" for n, s in zip("CAB", subscripts, strict=True)]
        body = loops(*heads) + f"{elements[0]} += {elements[1]} * {elements[2]};"
        yield shaped(f"tensor{number}", body, *arrays)
    parametric = (
        (loops("a:0:5", "b:0:6", "j:1:m", "k:l:0:-") + "C[a][b][j] += A[b][k][a] * B[k][j];", "C[restrict 5][6][m]",
         "A[restrict 6][l][5]", b),
        (loops("a:0:7", "k:2:l", "b:1:5", "q:0:3", "j:0:m") + "C[a][j][b] += A[a][k][b][q] * B[q][k][j];",
         "C[restrict 7][m][5]", "A[restrict 7][l][5][3]", "B[restrict 3][l][m]"),
        (loops("t:0:3", "i:0:n", "j:0:m", "k:0:l") + "C[t][i][j] += A[t][i][k] * B[t][k][j];", "C[restrict 3][n][m]",
         "A[restrict 3][n][l]", "B[restrict 3][l][m]"),
        (loops("i:0:n", "j:0:m", "t:0:3", "k:0:l") + "C[i][j][t] += A[t][i][k] * B[k][j][t];", "C[restrict n][m][3]",
         "A[restrict 3][n][l]", "B[restrict l][m][3]"),
        # Names that the product's own might hide, or become words of C.
        (loops("it:0:3", "i:0:n", "in:0:m", "fo:0:l") + "C[it][i][in] += A[it][i][fo] * B[it][fo][in];",
         "C[restrict 3][n][m]", "A[restrict 3][n][l]", "B[restrict 3][l][m]"),
        (loops("a:0:5", "b:2:6", "row:1:m", "kb:5:1:-", "q:0:3") + "C[a][b][row] += A[kb][a][b][q] * B[q][kb][row];",
         "C[restrict 5][6][m]", "A[restrict 5][5][6][3]", "B[restrict 3][5][m]"),
    )
    for number, (body, *arrays) in enumerate(parametric):
        yield shaped(f"rank{number}", body, *arrays)


def parts() -> Iterator[Case]:
    """Triangles, bands and other parts of a box."""
    c, a, b = "C[restrict n][n]", "A[restrict n][n]", "B[restrict n][n]"
    multiply = "C[i][j] += A[i][k] * B[k][j];"
    heads = (
        ("i:0:n", "j:0:i + 1", "k:0:n"), ("i:0:n", "j:i:n", "k:0:n"), ("i:0:n", "j:0:n", "k:0:i + 1"),
        ("i:0:n", "j:0:n", "k:i:n"), ("i:0:n", "j:0:n", "k:j + 1:n"), ("i:0:n", "j:0:n", "k:0:j"),
        ("i:0:n", "j:i:n", "k:i:j + 1"), ("i:0:n", "j:0:i + 1", "k:j:i + 1"), ("i:0:n", "j:0:n", "k:0:i + j - 4"),
        ("i:0:n", "j:0:n", "k:MAX(0, i - 3):MIN(n, i + 5)"), ("i:0:n", "j:MAX(0, i - 4):MIN(n, i + 4)", "k:0:n"),
        ("i:0:n", "j:0:n", "k:i + 1:0:-"), ("i:n:0:-", "j:0:n", "k:n:i:-"), ("i:0:n", "j:0:n", "k:0:n - i"),
        ("i:0:n", "j:0:2 * i", "k:0:n"), ("i:2:n", "j:1:i", "k:j:n"), ("i:0:n", "k:0:i + 1", "j:k:n"),
        ("k:0:n", "i:k:n", "j:0:k + 1"), ("i:0:n", "j:0:n", "k:MAX(i, j):n"), ("i:0:n", "j:0:n", "k:0:MIN(i, j) + 1"),
    )
    for number, head in enumerate(heads):
        t = ("double", "float", "int32_t")[number % 3]
        wide = ("C[restrict n][2 * n + 1]", a, "B[restrict n][2 * n + 1]")
        arrays = wide if "2 *" in head[1] else (c, a, b)
        yield shaped(f"part{number}", loops(*head) + multiply, *arrays, t, data="small")
    step = "C[i][j] = MAX(C[i][j], A[i][k] + B[k + 1][j]);"
    yield shaped("part_max", loops("i:0:n - 1", "j:i + 1:n - 1", "k:i:j") + step, c, a, b, "float")


def surroundings() -> Iterator[Case]:
    """Products among other statements, in loops around them, and in scalars."""
    c, a, b = "C[restrict n][m]", "A[restrict n][l]", "B[restrict l][m]"
    bodies = (
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      C[i][j] *= 0.5;
      for (int k = 0; k < l; k++)
        C[i][j] += 1.5 * A[i][k] * B[k][j];
    }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int k = 0; k < l; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s;
    }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = C[i][j];
      for (int k = 0; k < l; k++)
        s -= A[i][k] * B[k][j];
      C[i][j] = s;
    }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int k = 0; k < l; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = 2 * C[i][j] + s;
    }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int k = 0; k < l; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = s;
      A[i][0] = s;
    }""",
        """  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        for (int k = 0; k < l; k++)
          C[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < n; i++)
      for (int k = 0; k < l; k++)
        for (int j = 0; j < m; j++)
          A[i][k] -= 0.001 * C[i][j] * B[k][j];
  }""",
        """  for (int it = 0; it < 2; it++)
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++)
        C[i][j] += it;
      for (int kb = 0; kb < l; kb++)
        for (int j = 0; j < m; j++)
          C[i][j] += A[i][kb] * B[kb][j] * it;
    }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++) {
        C[i][j] += A[i][k] * B[k][j];
        if (k == l - 1)
          C[i][j] = C[i][j] > 0 ? C[i][j] : 0;
      }""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        C[i][j] = (k == 0 ? 0 : C[i][j]) + A[i][k] * B[k][j];""",
        """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      C[i][j] = 0;
  for (int k = 0; k < l; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        C[i][j] = C[i][j] + A[i][k] * B[k][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      C[i][j] = C[i][j] / 3;""",
    )
    for number, body in enumerate(bodies):
        yield shaped(f"around{number}", body, c, a, b, blocked=number not in (4, 8), data="small")
    square = "C[restrict n][n]", "A[restrict n][n]", "B[restrict n][n]"
    own = (
        # The target is an operand, too.
        loops("k:0:n", "i:0:n", "j:0:n") + "C[i][j] = MIN(C[i][j], C[i][k] + C[k][j]);",
        loops("i:0:n", "j:0:n", "k:0:n") + "C[i][j] += C[i][k] * B[k][j];",
        loops("i:0:n", "j:0:n", "k:0:n") + "C[i][j] += A[i][k] * C[k][j];",
        loops("i:0:n", "j:0:i + 1", "k:0:j") + "C[i][j] -= C[i][k] * C[j][k];",
        loops("k:0:n", "i:k + 1:n", "j:k + 1:n") + "C[i][j] -= C[i][k] * C[k][j] * 0.01;",
        loops("i:0:n / 2", "j:n / 2:n", "k:0:n / 2") + "C[i][j] += C[i][k] * B[k][j];",
        loops("i:n / 2:n", "j:0:n", "k:0:n / 2") + "C[i][j] += A[i][k] * C[k][j];",
        loops("i:1:n", "j:0:n", "k:0:n") + "C[i][j] += A[i][k] * C[0][j];",
        loops("i:0:n", "j:0:1", "k:0:n") + "C[i][j] += A[i][k] * C[i][j + 1];",
        loops("i:0:n", "j:0:n", "k:i + 1:n") + "C[i][j] += A[i][k] * C[k][j];",
        loops("i:0:n", "j:0:n", "k:2 * i + 1:n") + "C[i][j] -= A[i][k] * C[k][j];",
        loops("i:0:n", "j:0:n", "k:i + 1:n") + "C[i][j] += A[k][i] * C[k][j] * C[k][j];",
        loops("i:n:0:-", "j:0:n", "k:0:i") + "C[i][j] += A[i][k] * C[k][j];",
        loops("i:0:n", "j:0:n", "k:i + 1:n") + "C[i][j] += A[i][k] * C[k][n - 1 - j];",
    )
    for number, body in enumerate(own):
        # Some are products as they stand, some only beside panels of 64, which lie beyond the sizes of these tests.
        panels = number in (0, 3, 4, 13)
        yield shaped(f"own{number}", body, *square, data="small", blocked=panels or number in (5, 6, 7, 9, 10, 11))
    yield shaped("sum", loops("i:0:n", "j:0:m", "k:0:l") + "C[i + j] += A[i][k] * B[k][j];", "C[restrict n + m]", a, b,
                 "int32_t", data="small", blocked=False)
    pointers = ("**restrict C", "**restrict A", "*restrict *restrict B")
    yield shaped("rows", loops("i:0:n", "j:0:m", "k:0:l") + "C[i][j] += A[i][k] * B[k][j];", *pointers, data="rows")


def hidden() -> Iterator[Case]:
    """Products behind temporaries: all values of those are kept at once."""
    c, a, b = "C[restrict n][m]", "A[restrict n][l]", "B[restrict l][m]"
    symm = """  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      above = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += 3 * B[i][j] * A[i][k];
        above += B[k][j] * A[i][k];
      }
      C[i][j] = 2 * C[i][j] + 3 * B[i][j] * A[i][i] + 3 * above;
    }"""
    for k, t in enumerate((*REALS, *INTEGERS)):
        text = region(f"symm{k}", symm, f"{t} C[restrict n][m]", f"{t} A[restrict n][n]", f"{t} B[restrict n][m]")
        text = text.replace("#pragma scop", f"  {t} above;\n#pragma scop")
        yield Case(f"symm{k}", text, (t,) * 3, data="small")
    in_place = """  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      A[j] = 0;
      for (int k = 0; k < m; k++)
        A[j] += C[i][k] * B[k][j];
    }
    for (int j = 0; j < m; j++)
      C[i][j] = A[j];
  }"""
    for k, t in enumerate((*REALS, *INTEGERS)):
        yield shaped(f"fibre{k}", in_place, c, "A[restrict m]", "B[restrict m][m]", t, data="small")
    gather = "for (int k = 0; k < l; k++) s += A[i][k] * B[k][j];"
    around = loops("i:0:n", "j:0:m")
    bodies = (
        # used in a choice, more than once, beside another, in a triangle, and from other loops' first values on
        around + "{ double s = 0; GATHER if (s > C[i][j]) C[i][j] = s; }",
        around + "{ double s = 0; GATHER C[i][j] += s * s + s; }",
        around + "{ double s = 0, t = 1; for (int k = 0; k < l; k++) { s += A[i][k] * B[k][j];"
        " t -= A[i][k] * B[k][m - 1 - j]; } C[i][j] = s * t; }",
        loops("i:0:n", "j:0:MIN(i + 1, m)") + "{ double s = 0; GATHER C[i][j] -= s; }",
        loops("i:2:n", "j:1:m - 1") + "{ double s = C[i][j]; GATHER C[i][j] = s / 3; C[i - 1][j] = s; }",
        # an operand
        loops("i:0:n", "k:0:l") + "{ double t = 2 * A[i][k]; for (int j = 0; j < m; j++) C[i][j] += t * B[k][j]; }",
        # as many as there are rows in a block of another loop
        "  for (int t = 0; t < 2; t++)\n  "
        + around
        + "{ double s = t; GATHER C[i][j] = C[i][j] * s; A[i][0] += 0; }",
    )
    for number, body in enumerate(bodies):
        yield shaped(f"hidden{number}", body.replace("GATHER", gather), c, a, b, data="small", blocked=number != 6)
    lasting = (
        # An element that is seen after the region, and one that is not always written.
        loops("i:0:m", "j:0:m") + "{ A[2] = 0; for (int k = 0; k < l; k++) A[2] += B[k][i] * B[k][j];"
        " C[i][j] = A[2] + C[i][j]; }",
        loops("i:0:m", "j:0:i") + "{ A[j % 2] = 0; for (int k = 0; k < l; k++) A[j % 2] += B[k][i] * B[k][j];"
        " C[i][j] = A[j % 2] + C[i][j]; }",
        loops("i:m:0:-", "j:0:m") + "{ A[1] = 0; for (int k = 0; k < l; k++) A[1] += B[k][i] * B[k][j];"
        " C[i][j] = A[1] + C[i][j]; }",
        # What was in it before counts, and what is left from the iteration before does.
        loops("i:0:m", "j:0:m") + "{ for (int k = 0; k < l; k++) A[2] += B[k][i] * B[k][j]; C[i][j] = A[2]; }",
        loops("i:0:m", "j:0:m") + "{ if (j == 0) A[2] = 0; for (int k = 0; k < l; k++) A[2] += B[k][i] * B[k][j];"
        " C[i][j] = A[2] + C[i][j]; }",
    )
    for number, body in enumerate(lasting):
        yield shaped(f"lasting{number}", body, "C[restrict m][m]", "A[restrict 4]", "B[restrict l][m]", data="small",
                     blocked=number in (0, 2))


def named() -> Iterator[Case]:
    """Parts of a step behind the names of temporaries, whose values are computed where they are read."""
    nest = loops("i:0:n", "j:0:m", "k:0:l")
    numbers = ("double", "float", "int32_t")
    folds = {
        "ternary": "C[i][j] = C[i][j] {op} {t} ? C[i][j] : {t};",
        "if": "if ({t} {op} C[i][j]) C[i][j] = {t};",
    }
    for (kind, op, value), (form, fold), t in product(
        (("minplus", "<", "+"), ("maxplus", ">", "+"), ("maxtimes", ">", "*")), folds.items(), numbers
    ):
        body = f"{{ T t = A[i][k] {value} B[k][j]; {fold.format(op=op, t='t')} }}"
        yield _named(f"{kind}_{form}_{t}", nest + body, t)
        body = f"{{ T a = A[i][k], b = B[k][j]; T t = a {value} b; {fold.format(op=op, t='t')} }}"
        yield _named(f"{kind}_{form}_three_{t}", nest + body, t)
    calls = (("double", "fmin", "fmax"), ("float", "fminf", "fmaxf"))
    for t, least, most in calls:
        yield _named(f"call_minplus_{t}", nest + f"{{ T t = A[i][k] + B[k][j]; C[i][j] = {least}(C[i][j], t); }}", t)
        body = f"{{ T t = {least}(A[i][k], B[k][j]); C[i][j] = {most}(t, C[i][j]); }}"
        yield _named(f"call_maxmin_{t}", nest + body, t)
    for t in (*numbers, "uint8_t", "int64_t"):
        whole = t != "uint8_t"  # the product of two has more bits
        one = _named(f"plustimes_{t}", nest + "{ T t = A[i][k] * B[k][j]; C[i][j] += t; }", t)
        yield replace(one, blocked=whole)
        yield _named(f"plustimes_two_{t}", nest + "{ T a = A[i][k]; T b = B[k][j]; C[i][j] += a * b; }", t)
        both = _named(f"plustimes_sum_{t}", nest + "{ T c = C[i][j]; T t = A[i][k] * B[k][j]; C[i][j] = c + t; }", t)
        yield replace(both, blocked=whole)
        line = loops("i:0:n", "k:0:l") + "{ T a = A[i][k]; for (int j = 0; j < m; j++) C[i][j] += a * B[k][j]; }"
        yield _named(f"plustimes_line_{t}", line, t)
    for t in ("int32_t", "uint64_t", "int8_t"):
        yield _named(f"orand_{t}", nest + "{ T t = A[i][k] & B[k][j]; C[i][j] |= t; }", t)
        yield _named(f"orand_two_{t}", nest + "{ T a = A[i][k]; T t = a & B[k][j]; C[i][j] = C[i][j] | t; }", t)
    choice = "if (A[i][k] < B[k][j]) t = A[i][k]; else t = B[k][j];"
    later = "T t = A[i][k]; if (B[k][j] < t) t = B[k][j];"
    for k, begin in enumerate((f"T t; {choice}", later, "T t; t = A[i][k] < B[k][j] ? A[i][k] : B[k][j];")):
        for t in ("double", "int32_t"):
            yield _named(f"maxmin{k}_{t}", nest + f"{{ {begin} if (t > C[i][j]) C[i][j] = t; }}", t)
    # what is no product: a value in another type, one that is kept, and one whose parts change meanwhile
    others = {
        "cut": ("double", "{ float t = A[i][k] * B[k][j]; C[i][j] += t; }"),
        "narrow": ("int32_t", "{ uint8_t t = A[i][k] & B[k][j]; C[i][j] |= t; }"),
        "changed": ("double", "{ T t = C[i][j]; C[i][j] += A[i][k]; C[i][j] = t * B[k][j] + C[i][j]; }"),
        "before": ("double", "{ T t = C[i][j] * B[k][j]; C[i][j] = A[i][k]; C[i][j] += t; }"),
    }
    for name, (t, body) in others.items():
        yield replace(_named(f"named_{name}", nest + body, t), blocked=False)


def _named(name: str, body: str, t: str) -> Case:
    c, a, b = f"{t} C[restrict n][m]", f"{t} A[restrict n][l]", f"{t} B[restrict l][m]"
    return Case(name, region(name, body, c, a, b).replace("T ", f"{t} "), (t,) * 3, data="small")


def guarded() -> Iterator[Case]:
    """Updates under conditions: what no step changes stays untouched."""
    nest = loops("i:0:n", "j:0:m", "k:0:l")
    for k, t in enumerate((*REALS, *INTEGERS)):
        text = "if (A[i][k] > B[k][j]) C[i][j] += A[i][k] * B[k][j];"
        c, a, b = f"{t} C[restrict n][m]", f"{t} A[restrict n][l]", f"{t} B[restrict l][m]"
        data = "any" if t in REALS else "small"
        yield Case(f"guard{k}", region(f"guard{k}", nest + text, c, a, b), (t,) * 3, data)
    shape = "C[restrict n][m]", "A[restrict n][l]", "B[restrict l][m]"
    bodies = (
        nest + "if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];",
        nest + "if (A[i][k] && B[k][j]) C[i][j] = 1;",
        nest + "if (A[i][k] > 1) C[i][j] += B[k][j]; else if (A[i][k] < B[k][j]) C[i][j] = A[i][k];",
        loops("i:0:n", "j:0:MIN(i + 1, m)", "k:0:l") + "if (A[i][k] > 0) C[i][j] -= A[i][k] * B[k][j];",
        loops("i:0:n", "j:0:m", "k:i:l") + "if (B[k][j] > 0) C[i][j] = A[i][k] * B[k][j] + C[i][j];",
        loops("i:0:n", "j:0:m") + "{ C[i][j] *= 2; for (int k = 0; k < l; k++)"
        " if (A[i][k] > 0) C[i][j] += A[i][k] * B[k][j]; }",
        loops("i:0:n", "k:0:l") + "if (A[i][k] > 0) C[i][0] += A[i][k];",
        # The source passes over whole rows.
        loops("i:0:n", "k:0:l", "j:0:m") + "if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];",
    )
    for number, body in enumerate(bodies):
        yield shaped(f"guarded{number}", body, *shape, blocked=number < 6)
    narrow = (
        "if (A[i][k] && B[k][j]) C[i][j] = 1;",
        "C[i][j] = C[i][j] || (A[i][k] && B[k][j]);",
        "C[i][j] += A[i][k] < B[k][j] ? A[i][k] * B[k][j] : 200;",
        "C[i][j] = (A[i][k] & 100) < B[k][j] ? A[i][k] : C[i][j];",
        "C[i][j] = MIN(C[i][j], MAX(A[i][k], B[k][j]));",
        "C[i][j] = MAX(C[i][j], A[i][k] + B[k][j]);",
        "C[i][j] = A[i][k] > B[k][j] + C[i][j] ? A[i][k] : C[i][j];",
        "C[i][j] -= (A[i][k] == B[k][j]) * 300;",
    )
    for k, t in enumerate(("int8_t", "uint8_t", "int16_t", "uint16_t")):
        for number, step in enumerate(narrow):
            yield plain(f"narrow{k}_{number}", step, (t, t, t), data="any")
