"""Prints statements and loop nests of the sparse IR as C."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from codegen.sparse.algebra.expr import Call, Code, Exp, single
from codegen.sparse.emit.cexpr import Extents, cexp, element, false_condition
from codegen.sparse.emit.types import Types, Writer
from codegen.sparse.ir.nest import For, Guard, Let, Nest, Tick
from codegen.sparse.ir.statement import Find, Insert, OnChange, Recall, Reject, Stmt, Store


class StmtPrinter:
    """Prints into a writer. `scalars` collects the variables that the function must declare at its top."""

    def __init__(self, w: Writer, extents: Extents, types: Types) -> None:
        self.w, self.extents, self.types = w, extents, types
        self.scalars: dict[str, str] = {}
        self.keys: dict[str, tuple[tuple[str, ...], str]] = {}
        self.atomic: frozenset[str] = frozenset()

    def c(self, e: Exp) -> str:
        return cexp(e, self.extents)

    # --- nests -------------------------------------------------------------------------------------------------

    def prepare(self, nest: Nest, body: tuple[Stmt, ...]) -> None:
        """What must be set before the loops: counters of ticks, runs and recalls."""
        for level in nest:
            if isinstance(level, Tick):
                self.reset(level.var, "-1")
        for s in _all(body):
            if isinstance(s, OnChange):
                self.reset(s.var, "-1")
                for n in range(len(s.keys)):
                    self.reset(f"{s.var}_key{n}", "INT64_MIN")
            if isinstance(s, Recall):
                self.reset(f"{s.var}_at", "INT64_MIN")

    def reset(self, name: str, value: str) -> None:
        self.scalars[name] = "int64_t"
        self.w.line(f"{name} = {value};")

    def nest(self, nest: Nest, body: Callable[[], None], outer: tuple[str, str] | None = None) -> None:
        """The loops around a body. `outer` replaces the bounds of the first one, for a thread's share."""
        opened = 0
        for level in nest:
            if isinstance(level, For):
                low, high = outer if outer and not opened else (self.c(level.low), self.c(level.high))
                self.w.open(f"for (int64_t {level.var} = {low}; {level.var} < {high}; {level.var}++)")
                opened += 1
            elif isinstance(level, Let):
                self.w.line(f"const {self.types.c(level.kind)} {level.var} = {self.c(level.value)};")
            elif isinstance(level, Tick):
                self.w.line(f"{level.var}++;")
            else:
                self.guard(level)
        body()
        for _ in range(opened):
            self.w.close()

    def guard(self, g: Guard) -> None:
        conds = [false_condition(c, self.extents) for c in g.cons]
        if g.nonzero is not None:
            conds.append(f"{self.c(g.nonzero)} == 0")
        self.w.line(f"if ({' || '.join(conds)})")
        self.w.line("    continue;")

    # --- statements --------------------------------------------------------------------------------------------

    def body(self, stmts: tuple[Stmt, ...]) -> None:
        for s in stmts:
            self.stmt(s)

    def stmt(self, s: Stmt) -> None:
        if isinstance(s, Store):
            self.store(s)
        elif isinstance(s, Let):
            self.w.line(f"const {self.types.c(s.kind)} {s.var} = {self.c(s.value)};")
        elif isinstance(s, OnChange):
            self.on_change(s)
        elif isinstance(s, Recall):
            self.recall(s)
        elif isinstance(s, Reject):
            self.reject(s)
        elif isinstance(s, Insert):
            self.w.open(f"if (!tw_list_insert(&{s.list}, {self.words(s.words)}))")
            self.w.line("status = TW_SPARSE_NO_MEMORY;")
            self.w.line("goto done;")
            self.w.close()
        elif isinstance(s, Find):
            self.w.line(f"const int64_t {s.var} = tw_list_find(&{s.list}, {self.words(s.words)});")
        else:
            raise AssertionError(s)

    def store(self, s: Store) -> None:
        place = s.target if s.index is None else element(s.target, self.c(s.index))
        value = self.c(s.value)
        if s.op in ("min", "max"):
            sign = "<" if s.op == "min" else ">"
            self.w.line(f"if ({value} {sign} {place})")
            self.w.line(f"    {place} = {value};")
            return
        if s.target in self.atomic and s.op == "=":
            self.mark(s.target, place, value)
            return
        if s.target in self.atomic:
            self.w.line("#pragma omp atomic")
        if s.op == "+=" and value == "1" and s.target not in self.atomic:
            self.w.line(f"{place}++;")
        else:
            self.w.line(f"{place} {s.op} {value};")

    def mark(self, target: str, place: str, value: str) -> None:
        """The same value from several threads: only where it is not there yet, or caches pass the line to and fro."""
        self.w.line(f"{self.types.c_index} known_{target};")
        self.w.line("#pragma omp atomic read")
        self.w.line(f"known_{target} = {place};")
        self.w.open(f"if (known_{target} != {value})")
        self.w.line("#pragma omp atomic write")
        self.w.line(f"{place} = {value};")
        self.w.close()

    def on_change(self, s: OnChange) -> None:
        held = [f"{s.var}_key{n}" for n in range(len(s.keys))]
        now = [self.c(k) for k in s.keys]
        self.w.open(f"if ({' || '.join(f'{n} != {h}' for n, h in zip(now, held, strict=True))})")
        for n, h in zip(now, held, strict=True):
            self.w.line(f"{h} = {n};")
        self.w.line(f"{s.var}++;")
        self.body(s.body)
        self.w.close()

    def recall(self, s: Recall) -> None:
        at = f"{s.var}_at"
        self.w.open(f"if ({self.c(s.key)} != {at})")
        self.w.line(f"{at} = {self.c(s.key)};")
        self.w.line(f"for (int64_t p = {self.c(s.low)}; p < {self.c(s.high)}; p++)")
        self.w.line(f"    {s.table}[{s.values}[p]] = p;")
        self.w.close()
        self.w.line(f"const int64_t {s.var} = {s.table}[{self.c(s.index)}];")

    def reject(self, s: Reject) -> None:
        self.w.open("")
        self.w.line(f"const int64_t bit = {self.c(s.index)};")
        self.w.open(f"if ({s.seen}[bit >> 3] >> (bit & 7) & 1)")
        self.w.line("status = TW_SPARSE_DUPLICATE;")
        self.w.line("goto done;")
        self.w.close()
        self.w.line(f"{s.seen}[bit >> 3] |= (unsigned char)(1 << (bit & 7));")
        self.w.close()

    # --- keys --------------------------------------------------------------------------------------------------

    def words(self, words: tuple[Exp, ...]) -> str:
        return f"(const uint64_t[]){{{', '.join(w for e in words for w in self.word(e))}}}"

    def word(self, e: Exp) -> tuple[str, ...]:
        """A key expression as unsigned words that compare as it does."""
        call = single(e)
        if isinstance(call, Call) and call.id == "DOWN":
            return tuple(f"~({t})" for t in self.word(call.args[0]))
        if isinstance(call, Call) and call.id == "MORTON":
            return self.morton(tuple(self.c(a) for a in call.args))
        if isinstance(call, Call) and call.id in self.keys:
            return (f"{self.keys[call.id][1]}({', '.join(self.c(a) for a in call.args)})",)
        if isinstance(call, Code):
            return (f"(uint64_t){self.c(e)}",)
        return (f"(uint64_t)({self.c(e)}) ^ (uint64_t)1 << 63",)

    def morton(self, args: tuple[str, ...]) -> tuple[str, ...]:
        """As many words as a coordinate may have bits for, the high ones first: of each coordinate so many bits,
        interleaved."""
        rank = len(args)
        step = 64 // rank
        count = max(2, -(-(int(self.types.index) - 1) // step)) if rank > 1 else 1
        shifts = [f" >> {n * step}" if n else "" for n in range(count - 1, -1, -1)]
        return tuple(" | ".join(f"tw_spread{rank}((uint64_t)({a}){shift}) << {rank - 1 - d}"
                                for d, a in enumerate(args)) for shift in shifts)


def _all(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    for s in body:
        yield s
        if isinstance(s, OnChange):
            yield from _all(s.body)

