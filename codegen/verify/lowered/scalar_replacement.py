"""Proof of scalar replacement in lowered loops: the loads, moves and stores of the form keep the values that the loop's
`carried` asks for; raises Wrong otherwise.

`verify/scalar_replacement.py` shows that a read may take what a source had some iterations ago. Here each line is
read: which value a variable has, that reads find the right one, and that those of iterations before the first are
read where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from codegen.ast.ctree import Bin, For, Instance, Int, ReplacedElements, substitute
from codegen.ast.lowered import Do, First, InVariable, Item, Load, Move, One, ScalarReplacement, StoreValue, Value, Work
from codegen.ast.normal_forms import forms
from codegen.ast.scalar_replacement import instances
from codegen.record import mutable
from codegen.scop.expr import Expr, Gather, Ref, Ternary, is_code, sure_parts, walk
from codegen.scop.model import Scop, Statement
from codegen.verify.lowered.elements import Wrong
from codegen.verify.lowered.strips import check_head

Held = tuple[int, int]  # a kept value, by its number, and its age


def check_scalar_replacement(scop: Scop, f: ScalarReplacement, plain: For) -> None:
    """Raises Wrong where the lines of a loop are not what it keeps."""
    check_head(f.head, plain, ())
    body = instances(plain)
    if f.head.carried != plain.carried or not body:
        raise Wrong("keeps other values than it says")
    lines = _Lines(scop, plain, body, {f"{i}.{a}": (i, a) for i, c in enumerate(plain.carried) for a in _ages(c)})
    for x in f.body:
        lines.run(x)
    lines.finish()
    wanted = sorted(f"{i}.{a}" for i, c in enumerate(plain.carried) for a in _ages(c))
    if sorted(x.name for x in f.first) != wanted:
        raise Wrong("does not begin with all that it keeps")
    for begin in f.first:
        _check_first(plain, body, begin)
    ends = [(f"{i}.1", body[c.source[0]], c.source[1]) for i, c in enumerate(plain.carried) if c.last]
    found = [(x.name, x.stmt, forms(x.index)) for x in f.last]
    if found != [(name, at.stmt, _placed(at, n, plain, 0)) for name, at, n in ends]:
        raise Wrong("does not store the last value of what it keeps")


def _ages(c: ReplacedElements) -> range:
    return range(1, c.length + 1)


def _placed(at: Instance, access: int, plain: For, before: int) -> object:
    """The element of an access so many iterations before the first one."""
    start = Bin("-", plain.lower, Int(before))
    return forms([substitute(e, {plain.var: start}) for e in at.accesses[access]])


def _check_first(plain: For, body: Sequence[Instance], x: First) -> None:
    """What is read ahead is what an iteration reads, and only where that iteration is there."""
    number, _, age = x.name.partition(".")
    c = plain.carried[int(number)]
    at = body[c.source[0]]
    if (x.stmt, x.access) != (at.stmt, c.source[1]) or forms(x.index) != _placed(at, x.access, plain, int(age)):
        raise Wrong(f"begins with another element of `{c.array}`")
    if x.wait < 0 or all(a != int(age) + x.wait for _, _, a in c.reads):
        raise Wrong(f"reads elements of `{c.array}` ahead that may not be there")


def _check_choices(s: Statement, w: Work) -> None:
    """What gets a name ahead of a statement is a value, and evaluated by the statement in any case."""
    sure: list[Expr] = [s.rhs]
    for e in sure:
        sure.extend(sure_parts(e))
    for e in w.choices:
        if not isinstance(e, Ternary) or e.branch or is_code(e) or e not in sure:
            raise Wrong(f"computes something ahead of {s.name} that it may not compute")


@mutable
class _Lines:
    scop: Scop
    plain: For
    body: Sequence[Instance]
    values: dict[str, Held]
    results: dict[str, int] = field(default_factory=dict)  # the statement whose value a variable has
    computed: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)

    def run(self, x: Item) -> None:
        if isinstance(x, Load):
            self._load(x)
        elif isinstance(x, Move):
            if x.source not in self.values:
                raise Wrong("keeps a value that is not there")
            self.values[x.name] = self.values[x.source]
        elif isinstance(x, (Value, Do)):
            self._compute(x)
        elif isinstance(x, StoreValue):
            k = self._which(x.work)
            if self.results.get(x.name) != k:
                raise Wrong("stores the value of another statement")
            self._store(k)
        else:
            raise Wrong("does something else than its statements")

    def finish(self) -> None:
        """All statements have run in order, and variables are one iteration older."""
        every = list(range(len(self.body)))
        last = [c.source[0] for c in self.plain.carried if c.last]
        if self.computed != every or self.stored != [k for k in every if k not in last]:
            raise Wrong("does not run every statement once, in order")
        for i, c in enumerate(self.plain.carried):
            if any(self.values.get(f"{i}.{a}") != (i, a - 1) for a in _ages(c)):
                raise Wrong(f"has another value of `{c.array}` in the next iteration")

    def _which(self, w: Work) -> int:
        """The statement of the body that it is."""
        known = len(self.computed)
        for k in (known - 1, known):
            if 0 <= k < len(self.body) and self.body[k] == w.at:
                return k
        raise Wrong("runs a statement that is not in the loop, or out of order")

    def _load(self, x: Load) -> None:
        """The source of a value, read by the statement that comes next."""
        k = len(self.computed)
        i = next((i for i, c in enumerate(self.plain.carried) if c.source == (k, x.access)), None)
        same = i is not None and isinstance(x.place, One) and self.body[k].stmt == x.stmt
        if not same or forms(self.body[k].accesses[x.access]) != forms(x.place.at):  # type: ignore[union-attr, arg-type]
            raise Wrong("keeps another element than that of its source")
        assert i is not None
        self.values[x.name] = i, 0

    def _compute(self, x: Value | Do) -> None:
        k, at = len(self.computed), x.work.at
        if k >= len(self.body) or at != self.body[k] or x.work.count != 1:
            raise Wrong("runs a statement that is not in the loop, or out of order")
        s = self.scop.statement(at.stmt)
        self._check_reads(s, k, x.work)
        _check_choices(s, x.work)
        self.computed.append(k)
        if isinstance(x, Do):
            self._store(k)
            return
        self.results[x.name] = k
        i = next((i for i, c in enumerate(self.plain.carried) if c.source == (k, s.target)), None)
        if i is None:
            raise Wrong("keeps the value of a statement that is no source")
        self.values[x.name] = i, 0

    def _check_reads(self, s: Statement, k: int, w: Work) -> None:
        """Each access is where the plain one is, or in a variable that has what it reads."""
        ahead = {(a.access, a.name) for a in self.plain.ahead if a.at == w.at}
        spelled = {e.access for e in walk(s.rhs) if isinstance(e, (Ref, Gather))}
        for n, place in enumerate(w.places):
            if isinstance(place, One):
                if forms(place.at) != forms(w.at.accesses[n]):
                    raise Wrong(f"uses another element of `{s.accesses[n].array}`")
                continue
            assert isinstance(place, InVariable)
            value = self.values.get(place.name)
            own = [i for i, c in enumerate(self.plain.carried) if c.source == (k, n) and n != s.target]
            reads = [(i, a) for i, c in enumerate(self.plain.carried) for r, m, a in c.reads if (r, m) == (k, n)]
            if s.accesses[n].write or (n not in spelled and s.op == "="):
                raise Wrong("has a variable in place of an element that is written")
            if value not in [*reads, *((i, 0) for i in own)] and (n, place.name) not in ahead:
                raise Wrong(f"uses a value of `{s.accesses[n].array}` that is none of this iteration's")

    def _store(self, k: int) -> None:
        if any(c.last and c.source[0] == k for c in self.plain.carried):
            raise Wrong("stores in every iteration what memory gets at the end")
        self.stored.append(k)
