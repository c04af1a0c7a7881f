"""Makes the operations of a thread from the tree of a kernel (`thread_code`), about as compilers for devices do: common
subexpressions once, what a loop does not change ahead of it, pointers that move on with it, elements that it writes
again and again in registers, and several iterations at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from codegen.ast.ctree import Bin, Block, CExpr, CNode, Declare, For, Fun, If, Instance, walk
from codegen.gpu.registers.index import Atom, IndexOperations, OpenLoop, Place, words
from codegen.gpu.registers.model import (
    CALL,
    DIVIDE,
    LOAD,
    NARROW,
    ROOT,
    STORE,
    THREAD,
    WIDE,
    WORK,
    Operation,
    Polynomial,
    Repeated,
    ThreadCode,
    added,
    multiplied,
)
from codegen.recognize.access.ctypes import type_of
from codegen.record import record
from codegen.scop.expr import Affine, Binary, Call, Cast, Expr, Lit, Ref, Sym, Ternary, Unary
from codegen.scop.model import Scop, Statement

ALONE = 4  # iterations of an innermost loop that compilers write out when nobody says how many
WHOLE = 32  # iterations of loops inside each other that are written out where their number is known
_COMPARE = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
_SIMPLE = ("fabs", "fmin", "fmax", "ceil", "floor", "rint", "trunc", "copysign", "fma", "abs", "labs")


@record
class KernelLoops:
    """The loops of a kernel: those whose iterations are threads, by their identity, threads of a block, and how many
    iterations of others are written out, 0 where compilers decide."""

    grid: frozenset[int]
    threads: int
    unrolled: Callable[[For], int]


def thread_code(scop: Scop, node: CNode, loops: KernelLoops, wide: bool) -> ThreadCode:
    """What a thread of a plain kernel does, with counters of 64 bits or of 32. The region has rows of known length."""
    counter = WIDE if wide else NARROW
    inside = [x for x in walk(node) if isinstance(x, Instance)]
    arrays = (scop.arrays[a.array] for x in inside for a in scop.statement(x.stmt).writes)
    held = frozenset(h.array for x in walk(node) if isinstance(x, Declare) for h in x.slots)
    written = frozenset(n for a in arrays for n in (a.base, a.name))
    made = _Lowering(counter, scop=scop, kernel=loops, held=held, written=written)
    made.node(node)
    made.loops[0].end_straight()
    return ThreadCode(tuple(made.operations), tuple(made.loops[0].parts), loops.threads, counter)


@dataclass
class _Lowering(IndexOperations):
    scop: Scop = field(kw_only=True)
    kernel: KernelLoops = field(kw_only=True)
    held: frozenset[str] = field(kw_only=True)  # variables of a thread
    written: frozenset[str] = field(kw_only=True)
    values: dict[Place, int | None] = field(default_factory=dict)  # of elements that are in registers
    promoted: frozenset[Place] = frozenset()  # elements that a loop has in registers throughout
    stored: list[tuple[Place, int]] = field(default_factory=list)
    copies: int = 1  # of what is made, since loops around it are written out

    def node(self, node: CNode) -> None:
        if isinstance(node, Block):
            for child in node.children:
                self.node(child)
        elif isinstance(node, Declare):
            self.node(node.body)
        elif isinstance(node, If):
            self._asked(node.cond)
            for part in (node.then, *(() if node.orelse is None else (node.orelse,))):
                self.node(part)
        elif isinstance(node, Instance):
            self._statement(node)
        elif isinstance(node, For) and id(node) in self.kernel.grid:
            self.atoms[node.var] = Atom(0, self.make(Operation(THREAD, self.counter)))
            self._asked(node.upper)
            self.node(node.body)
        else:
            assert isinstance(node, For)
            count = self._most(node)
            if 0 < count * self.copies <= WHOLE:
                self._written_out(node, count)
            else:
                self._loop(node)

    def _asked(self, e: CExpr) -> None:
        """The values that a condition compares."""
        if isinstance(e, Bin) and e.op in _COMPARE:
            self._asked(e.left)
            self._asked(e.right)
        else:
            self.integer(e)

    # -- elements

    def _place(self, s: Statement, at: Instance, number: int) -> Place:
        a = s.accesses[number]
        array, index = self.scop.arrays[a.array], at.accesses[number]
        total: Polynomial = {}
        if len(a.path) == 1 and a.path[0].kind == "flat":
            for e, stride in zip(index, a.path[0].strides, strict=True):
                total = added(total, multiplied(self.polynomial(e), _size(stride)))
        else:
            index = index[array.scope :] if array.inside else index
            for k, e in enumerate(index):
                total = added(multiplied(total, _size(array.extents[k])) if k else {}, self.polynomial(e))
        return Place(array.name if array.inside else array.base, tuple(sorted(total.items())))

    def _read(self, s: Statement, at: Instance, number: int) -> int | None:
        where, array = self._place(s, at, number), self.scop.arrays[s.accesses[number].array]
        if array.name in self.held or where in self.values:
            return self.values.get(where)
        op = Operation(LOAD, words(array.elem.bytes), (self.address(where),))
        if where.array not in self.written:
            return self.make(op, ("load", where), max(0, self.level([n for key, _ in where.terms for n in key])))
        before = tuple(k for x, k in self.stored if x.array == where.array and not x.apart(where))
        self.values[where] = self.make(Operation(op.kind, op.words, op.uses, before))
        return self.values[where]

    def _write(self, s: Statement, at: Instance, value: int | None) -> None:
        where, array = self._place(s, at, s.target), self.scop.arrays[s.accesses[s.target].array]
        if array.name not in self.held and where not in self.promoted:
            keeps = [x for x in self.values if x.array != where.array or x in self.promoted or x.apart(where)]
            self.values = {x: self.values[x] for x in keeps}
            self._store(where, value, words(array.elem.bytes))
        self.values[where] = value

    def _store(self, where: Place, value: int | None, size: int) -> None:
        pointer = self.address(where)
        made = self.make(Operation(WORK, size)) if value is None else value
        self.stored.append((where, self.make(Operation(STORE, 0, (pointer, made)))))

    # -- statements

    def _statement(self, at: Instance) -> None:
        s = self.scop.statement(at.stmt)
        value = self._value(s.rhs, s, at)
        if s.op != "=":
            found = (self._read(s, at, s.target), value)
            uses = tuple(v for v in found if v is not None)
            size = words(self.scop.arrays[s.accesses[s.target].array].elem.bytes)
            value = self.make(Operation(DIVIDE if s.op == "/=" else WORK, size, uses)) if uses else None
        self._write(s, at, value)

    def _value(self, e: Expr, s: Statement, at: Instance) -> int | None:
        """None for constants, and for integers that are the same for all threads of a block."""
        if isinstance(e, (Lit, Sym)):
            return None
        if isinstance(e, Ref):
            return self._read(s, at, e.access)
        if isinstance(e, Affine):
            found = self.integer(at.values[e.value])
            return None if found is None else self.make(Operation(WORK, words(e.ctype.bytes), (found,)))
        if isinstance(e, Unary):
            return self._value(e.arg, s, at)
        assert isinstance(e, (Binary, Ternary, Call, Cast))
        parts, kind = _parts(e), type_of(self.scop, s, e)
        uses = tuple(v for x in parts for v in (self._value(x, s, at),) if v is not None)
        if not uses and (kind is None or kind.kind != "float" or not any(isinstance(x, Sym) for x in parts)):
            return None
        size = 0 if isinstance(e, Binary) and e.op in _COMPARE else words(kind.bytes if kind is not None else 4)
        constants = tuple(x for x in parts if isinstance(x, (Lit, Sym)))
        what = e.op if isinstance(e, Binary) else e.name if isinstance(e, Call) else size
        return self.make(Operation(_kind(e), size, uses), (type(e), what, uses, constants))

    # -- loops

    def _most(self, node: For) -> int:
        """How many iterations a loop has at most; 0 where nobody knows."""
        highs, lows = _bounds(node.upper, "min"), _bounds(node.lower, "max")
        spans = [added(self.polynomial(high), self.polynomial(low), -1) for high in highs for low in lows]
        counts = (-(-(x.get((), 0) + (node.op == "<=")) // node.step) for x in spans if not any(x))
        return max(0, min(counts, default=0))

    def _written_out(self, node: For, count: int) -> None:
        first, copies = self.polynomial(node.lower), self.copies
        self.copies = copies * count
        for k in range(count):
            self.values_of[node.var] = added(first, {(): k * node.step})
            self.node(node.body)
        self.copies = copies

    def _loop(self, node: For) -> None:
        inner = not any(isinstance(x, For) for x in walk(node.body))
        times = self.kernel.unrolled(node) or (ALONE if inner else 1)
        ends = tuple(v for e in (node.lower, node.upper) for v in (self.integer(e),) if v is not None)
        around, elements = self.promoted, self._again(node)
        for where, size in elements.items():
            if where not in self.values:
                self.values[where] = self.make(Operation(LOAD, size, (self.address(where),)))
        counter = self.make(Operation(WORK, self.counter, ends[:1]))
        self.promoted = around | set(elements)
        before = self.values = {x: v for x, v in self.values.items() if self._stays(x)}
        self.loops.append(OpenLoop())
        depth = len(self.loops) - 1
        self.atoms[node.var] = Atom(depth, counter)
        for k in range(times):
            self.values_of[node.var] = added({(node.var,): 1}, {(): k * node.step})
            self.node(node.body)
        after = {x: v for x, v in self.values.items() if self._stays(x)}
        new = [x for x, v in after.items() if v != before.get(x)]
        kept = [v for x in new for v in (after[x],) if v is not None]
        # Iterations that are left over when several are taken at a time compute their addresses anew.
        anew = [x.value for x in self.atoms.values() if x.level < depth] if times > 1 else []
        carried = frozenset(v for x in new for v in (before.get(x),) if v is not None)
        done = self.loops.pop()
        done.end_straight()
        self.loops[-1].end_straight()
        self.loops[-1].parts.append(Repeated(tuple(done.parts), (*kept, counter, *ends, *anew), carried))
        self.atoms = {n: x for n, x in self.atoms.items() if x.level < depth}
        del self.values_of[node.var]
        self.values, self.promoted = after, around
        for where in elements:
            if where not in around:
                self._store(where, after.get(where), elements[where])

    def _stays(self, where: Place) -> bool:
        """Is it in a register from iteration to iteration?"""
        return where in self.promoted or where.array in self.held

    def _again(self, node: For) -> dict[Place, int]:
        """Elements that stay in registers through a loop, with their sizes: it uses no others of their arrays."""
        inside = {x.var for x in walk(node) if isinstance(x, For)}
        found: dict[str, set[Place]] = {}
        targets: dict[str, int] = {}
        for at in walk(node):
            if not isinstance(at, Instance):
                continue
            s = self.scop.statement(at.stmt)
            for k, a in enumerate(s.accesses):
                where, array = self._place(s, at, k), self.scop.arrays[a.array]
                found.setdefault(where.array, set()).add(where)
                if k == s.target and array.name not in self.held:
                    targets[where.array] = words(array.elem.bytes)
        return {
            x: targets[name]
            for name in sorted(targets)
            for x in found[name]
            if len(found[name]) == 1 and not any(_mentions(n, inside) for key, _ in x.terms for n in key)
        }


def _kind(e: Expr) -> str:
    if isinstance(e, Binary) and e.op in ("/", "%") and not isinstance(e.right, Lit):
        return DIVIDE
    if isinstance(e, Call) and e.name not in _SIMPLE and e.name.removesuffix("f") not in _SIMPLE:
        return ROOT if e.name.startswith("sqrt") else CALL
    return WORK


def _parts(e: Binary | Ternary | Call | Cast) -> Sequence[Expr]:
    if isinstance(e, Binary):
        return e.left, e.right
    if isinstance(e, Ternary):
        return e.cond, e.yes, e.no
    return e.args if isinstance(e, Call) else (e.arg,)


def _bounds(e: CExpr, which: str) -> tuple[CExpr, ...]:
    """All that hold at once."""
    return e.args if isinstance(e, Fun) and e.name == which else (e,)


def _mentions(atom: str, names: set[str]) -> bool:
    """Is an atom one of the names, or an expression with one?"""
    return atom in names or any(f"'{n}'" in atom for n in names)


def _size(text: str) -> Polynomial:
    return {(): int(text)} if text.isdigit() else {(text,): 1}
