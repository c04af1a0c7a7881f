"""Classifies a statement of the host by what it may do with memory (`Effect`: nothing, reads, writes, calls an unknown
function, calls one that only consists of regions, ends the block), for parts of a program in which arrays of regions
stay on the device.

A statement is judged by its own text. Plain variables are never on the device alone: only what goes through subscripts,
pointers and calls counts. What is not understood counts as a call of a function that nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from codegen.frontend.syntax.purity import PURE_NAMES
from codegen.record import record
from codegen.source.macro_tables import Macro


class Effect(IntEnum):
    """From harmless to anything at all."""

    NONE = 0
    READS = 1
    WRITES = 2
    CALLS = 3  # a function that nobody knows: it may hold regions of its own
    RESIDENT = 4  # of a function that consists of regions, and nothing else of memory
    ENDS = 5  # leaves the block, or declares what ends with it: nothing can stay


@record
class Around:
    """What is known where a statement stands. `arrays` are names of those that regions use, `structs` of those that
    have such arrays as members; with `no_alias` no other name leads to them."""

    macros: Mapping[str, Macro]
    functions: frozenset[str]  # of the file
    resident: frozenset[str]  # those of them that consist of regions, and nothing else of memory
    arrays: frozenset[str]
    structs: frozenset[str] = frozenset()
    no_alias: bool = False


_QUIET = frozenset({
    "malloc", "calloc", "clock", "time", "clock_gettime", "gettimeofday", "omp_get_wtime", "fflush", "putchar", "fputc",
    "rand", "srand", "MPI_Wtime", "getenv", "atoi", "atof", "strtol", "strtod", "fclose", "fopen",
})  # fmt: skip
_PRINTS = frozenset({"printf", "fprintf", "puts", "fputs", "perror"})
_READS = frozenset({"fwrite", "write", "memcmp", "strlen", "strcmp"})
_NUMBER = re.compile(r"\(*\s*[-+]?[\d.][\w.]*\s*\)*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_JUMPS = (c_ast.Return, c_ast.Goto, c_ast.Label)


def effect_of(text: str, around: Around, expression: bool = False) -> Effect:
    """What a statement that has no other inside, or an expression, may do."""
    for word in set(_WORD.findall(re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', '""', text))):
        macro = around.macros.get(word)
        if macro is not None and not macro.foreign and not _is_plain(macro, around):
            return Effect.CALLS
    parsed = _parsed(f"({text.strip()});" if expression else text)
    return Effect.CALLS if parsed is None else _Judge(around).of_all(parsed)


def _is_plain(macro: Macro, around: Around) -> bool:
    """Does it stand for a number, or for another name where names are not told apart?"""
    if macro.params is not None:
        return False
    return bool(_NUMBER.fullmatch(macro.body) or (not around.no_alias and _NAME.fullmatch(macro.body)))


@lru_cache(4096)
def _parsed(text: str) -> c_ast.Node | None:
    """The statement in the parser's tree; a word ahead of another one, or of a star, may be the name of a type."""
    first = re.match(r"\s*(?:const\s+|static\s+)*([A-Za-z_]\w*)[\s*]+[A-Za-z_*(]", text)
    for names in ((), (first[1],) if first else ()):
        known = ", ".join(("size_t", "FILE", "clock_t", "ptrdiff_t", *names))
        try:
            return CParser().parse(f"typedef int {known}; void f(void) {{ {text} }}").ext[-1].body
        except (ParseError, AssertionError, RecursionError):
            continue
    return None


@record
class _Judge:
    around: Around

    def of_all(self, node: c_ast.Node) -> Effect:
        """The worst of all that a node does; calls of resident functions do not go with other uses of memory."""
        found = [self.of(node)]
        todo = [node]
        while todo:
            for _, child in todo.pop().children():
                if isinstance(child, (c_ast.UnaryOp, c_ast.ArrayRef, c_ast.FuncCall, c_ast.Assignment, c_ast.StructRef,
                                      c_ast.Decl, *_JUMPS)):  # fmt: skip
                    found.append(self.of(child))
                if isinstance(child, c_ast.UnaryOp) and child.op == "&":
                    todo += self.indices(child.expr)
                elif isinstance(child, c_ast.UnaryOp) and child.op == "sizeof":
                    continue
                else:
                    todo.append(child)
        calls = found.count(Effect.RESIDENT)
        if Effect.ENDS in found:
            return Effect.ENDS
        others = max((x for x in found if x != Effect.RESIDENT), default=Effect.NONE)
        if calls > 1 or (calls and others != Effect.NONE):
            return Effect.CALLS
        return Effect.RESIDENT if calls else others

    def of(self, node: c_ast.Node) -> Effect:
        """A node by itself."""
        if isinstance(node, _JUMPS) or (isinstance(node, c_ast.Decl) and self.ends(node)):
            return Effect.ENDS
        if isinstance(node, c_ast.Assignment):
            return self.stored(node.lvalue)
        if isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            return self.stored(node.expr)
        if isinstance(node, c_ast.FuncCall):
            return self.called(node)
        is_load = isinstance(node, (c_ast.ArrayRef, c_ast.StructRef)) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "*"
        )
        return Effect.READS if is_load and self.shared(node) else Effect.NONE

    def ends(self, declared: c_ast.Decl) -> bool:
        """Is it an array, perhaps by the name of its type or in a struct, which is gone at the end of the block?"""
        if isinstance(declared.type, c_ast.PtrDecl):
            return False
        return isinstance(declared.type, c_ast.ArrayDecl) or declared.name in self.around.arrays

    def stored(self, target: c_ast.Node) -> Effect:
        if isinstance(target, c_ast.ID):
            return Effect.WRITES if target.name in self.around.structs else Effect.NONE
        return Effect.WRITES if self.shared(target) else Effect.NONE

    def shared(self, place: c_ast.Node) -> bool:
        """May this be an element of an array that regions use?"""
        root, member = place, True
        while isinstance(root, (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp, c_ast.Cast)):
            member = member and isinstance(root, c_ast.StructRef) and root.type == "."
            root = root.expr if isinstance(root, (c_ast.UnaryOp, c_ast.Cast)) else root.name
        if not isinstance(root, c_ast.ID):
            return True
        if member:
            return root.name in self.around.structs
        return not self.around.no_alias or root.name in self.around.arrays

    def called(self, call: c_ast.FuncCall) -> Effect:
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        given = call.args.exprs if call.args is not None else []
        literals = "".join(x.value for x in given if isinstance(x, c_ast.Constant) and x.type == "string")
        if name in self.around.resident:
            return Effect.RESIDENT
        if name in self.around.functions:
            return Effect.CALLS
        if name in PURE_NAMES or name in _QUIET:
            return Effect.NONE
        if name in _PRINTS and "%n" not in literals:
            plain = literals and "%s" not in literals.replace("%%", "")
            return Effect.NONE if plain else Effect.READS
        return Effect.READS if name in _READS else Effect.CALLS

    def indices(self, place: c_ast.Node) -> list[c_ast.Node]:
        """What is computed to form an address: elements themselves are not read."""
        out: list[c_ast.Node] = []
        while isinstance(place, (c_ast.ArrayRef, c_ast.StructRef)):
            if isinstance(place, c_ast.ArrayRef):
                out.append(c_ast.ExprList([place.subscript]))
            place = place.name
        return out if isinstance(place, c_ast.ID) else [*out, c_ast.ExprList([place])]
