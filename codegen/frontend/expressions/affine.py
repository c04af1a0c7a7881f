"""C integer expressions as isl piecewise quasi-affine functions, with C's meaning of / and %.

Unsigned and narrowing arithmetic is modelled as exact integer arithmetic; wherever C could wrap, an
`Assumption` is recorded, and what cannot be proven from it becomes a run-time guard of the region.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import islpy as isl
from pycparser import c_ast, c_generator

from codegen.diagnostics import Loc, Unsupported
from codegen.frontend.context.frame import Assumption, Binding, Frame
from codegen.frontend.context.member_parameters import Reading
from codegen.frontend.expressions.division import by_number, by_value, flipped
from codegen.frontend.syntax.constants import UINT, int_constant, literal_type
from codegen.frontend.syntax.declarators import TypeTable, parameters
from codegen.frontend.syntax.symbols import location
from codegen.record import mutable
from codegen.scop.dialect import STANDARD, Dialect
from codegen.scop.types import INT, CType, common, promote
from codegen.scop.unconditional import may_be_skipped

if TYPE_CHECKING:
    from codegen.frontend.memory.computed_parameters import ComputedCandidate, Invariants


class MissingParameter(Exception):
    """An expression has no affine form, but the region does not change it: it could be a parameter."""

    def __init__(self, found: ComputedCandidate) -> None:
        super().__init__(found.text)
        self.found = found


class NotAffine(Exception):
    """The expression is no affine function; carries the node to point at and what is wrong with it."""

    def __init__(self, node: c_ast.Node, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


_COMPARE: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": lambda a, b: a.lt_set(b),
    "<=": lambda a, b: a.le_set(b),
    ">": lambda a, b: a.gt_set(b),
    ">=": lambda a, b: a.ge_set(b),
    "==": lambda a, b: a.eq_set(b),
    "!=": lambda a, b: a.ne_set(b),
}
_SCALING = ("*", "/", "%", "<<", ">>", "&", "|", "^")
_COMPUTABLE = (c_ast.ArrayRef, c_ast.StructRef, c_ast.UnaryOp, c_ast.BinaryOp)
_MIN_NAMES = frozenset({"min", "imin", "MIN", "lmin", "tw_min"})
_MAX_NAMES = frozenset({"max", "imax", "MAX", "lmax", "tw_max"})


def c_text(node: c_ast.Node) -> str:
    """A node as C text, for messages."""
    return " ".join(str(c_generator.CGenerator().visit(node)).split())


@mutable
class Affiner:
    """Evaluates expressions against frames. `params` maps C text to (isl name, type)."""

    params: Mapping[str, tuple[str, CType]]
    enums: Mapping[str, int]
    types: TypeTable
    functions: Mapping[str, c_ast.FuncDef]
    ranges: isl.Set  # what parameter types allow
    fallback: Loc
    assumptions: list[Assumption] = field(default_factory=list)
    calls: int = 0
    invariants: Invariants | None = None  # finds what could be a parameter besides; None: nothing is looked for
    computed: Mapping[str, tuple[str, CType]] = field(default_factory=dict)  # C text to parameters found that way
    evaluated: dict[str, isl.Set] = field(default_factory=dict)  # where the source evaluates each of them
    readings: list[Reading] = field(default_factory=list)  # of members behind pointers
    distinct: Mapping[str, CType] = field(default_factory=dict)  # index arrays without equal elements
    dialect: Dialect = STANDARD
    filled: Mapping[str, c_ast.Node] = field(default_factory=dict)  # of how many elements of theirs that is known

    # -- values ------------------------------------------------------------------------------------

    def value(self, node: c_ast.Node, frame: Frame) -> tuple[isl.PwAff, CType]:
        """The value of `node` and its C type. Raises NotAffine."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise NotAffine(node, f"`{c_text(node)}` is not an affine expression")
        known = self.known(node, frame)
        if known is not None:
            name, ctype = known
            return frame.param(name), ctype
        try:
            result: tuple[isl.PwAff, CType] = method(node, frame)
            return result
        except (NotAffine, MissingParameter):
            # The largest product or quotient is one parameter; sums stay sums, so that their parts can be compared.
            if isinstance(node, c_ast.BinaryOp) and node.op in _SCALING:
                self.want(node, frame)
            raise

    def known(self, node: c_ast.Node, frame: Frame) -> tuple[str, CType] | None:
        """The computed parameter that `node` is, if any."""
        if self.invariants is None or not isinstance(node, _COMPUTABLE):
            return None
        return self._computed(node, self.invariants.find(node, frame, self) if self.computed else None, frame)

    def _computed(self, node: c_ast.Node, found: ComputedCandidate | None, frame: Frame) -> tuple[str, CType] | None:
        if found is None or found.text not in self.computed:
            return None
        name, ctype = self.computed[found.text]
        here = frame.domain.params()
        here = isl.Set.universe(here.get_space()) if found.harmless else here
        if not found.harmless and not self._may_ask(node, frame):
            return (name, ctype) if name in self.evaluated and here.is_subset(self.evaluated[name]) else None
        self.evaluated[name] = self.evaluated[name].union(here).coalesce() if name in self.evaluated else here
        self._followed(found.text, frame)
        return name, ctype

    def member(self, text: str, frame: Frame) -> tuple[str, CType] | None:
        """The parameter that a member of a struct is, if any."""
        if text in self.params:
            self._followed(text, frame)
        return self.params.get(text)

    def mark(self) -> tuple[int, int]:
        """For `back`."""
        return len(self.assumptions), len(self.readings)

    def back(self, mark: tuple[int, int]) -> None:
        """Forget what was found since `mark`, as the expression is no affine one."""
        del self.assumptions[mark[0] :]
        del self.readings[mark[1] :]

    def _followed(self, text: str, frame: Frame) -> None:
        """Take down that `text` is evaluated."""
        if "->" in text:
            sure = frame.sure and not may_be_skipped(text)
            self.readings.append(Reading(text, frame.domain.params(), sure))

    def want(self, node: c_ast.Node, frame: Frame) -> None:
        """Raise MissingParameter if `node` could be a parameter."""
        found = None if self.invariants is None else self.invariants.find(node, frame, self)
        if found is not None and found.text not in self.computed and self._may_ask(node, frame):
            raise MissingParameter(found) from None

    def _may_ask(self, node: c_ast.Node, frame: Frame) -> bool:
        """May it be evaluated ahead? Only what the source is sure to evaluate, or what always has a value here."""
        return frame.sure or (self.invariants is not None and self.invariants.has_value(node, frame, self))

    def pointer_test(self, node: c_ast.Node, frame: Frame) -> isl.PwAff | None:
        """The value of a test of a pointer against 0, which is a parameter; None for other conditions."""
        found = None if self.invariants is None else self.invariants.pointer_test(node, frame, self)
        if found is None:
            return None
        known = self._computed(node, found, frame)
        if known is None and found.text not in self.computed and (frame.sure or found.harmless):
            raise MissingParameter(found)
        if known is None:
            raise NotAffine(node, f"`{c_text(node)}` may not be evaluated ahead of the region")
        value = frame.param(known[0])
        return value if node.op == "!=" else frame.constant(1).sub(value)

    def _ArrayRef(self, node: c_ast.ArrayRef, frame: Frame) -> tuple[isl.PwAff, CType]:
        self.want(node, frame)
        raise NotAffine(node, f"`{c_text(node)}` is read from memory")

    def _Constant(self, node: c_ast.Constant, frame: Frame) -> tuple[isl.PwAff, CType]:
        number = int_constant(node)
        if number is None:
            raise NotAffine(node, f"`{c_text(node)[:SHOWN]}` is not an integer")
        if number >> (64 if "u" in node.value.lower() else 63):
            raise NotAffine(node, f"`{node.value}` does not fit into a 64-bit integer")
        return frame.constant(number), literal_type(node, number)

    def _ID(self, node: c_ast.ID, frame: Frame) -> tuple[isl.PwAff, CType]:
        it = frame.iterator(node.name)
        if it is not None and node.name not in frame.bindings:
            return frame.dim(it.pos), it.ctype
        if node.name in frame.bindings:
            return self._bound(node, frame.bindings[node.name], frame)
        if node.name in self.params:
            name, ctype = self.params[node.name]
            return frame.param(name), ctype
        if node.name in self.enums:
            return frame.constant(self.enums[node.name]), INT
        raise NotAffine(node, f"the value of `{node.name}` changes inside the region or is not an integer")

    def _bound(self, node: c_ast.Node, binding: Binding, frame: Frame) -> tuple[isl.PwAff, CType]:
        if binding.value is not None:
            return frame.lift(binding.value), binding.ctype
        value, ctype = self.value(binding.node, binding.frame)
        value = self._convert(value, ctype, binding.ctype, binding.frame, node)
        return frame.lift(value), binding.ctype

    def _StructRef(self, node: c_ast.StructRef, frame: Frame) -> tuple[isl.PwAff, CType]:
        text = c_text(node)
        known = self.member(text, frame)
        if known is not None:
            return frame.param(known[0]), known[1]
        self.want(node, frame)
        raise NotAffine(node, f"`{text}` is data, not a parameter")

    def _UnaryOp(self, node: c_ast.UnaryOp, frame: Frame) -> tuple[isl.PwAff, CType]:
        if node.op == "+":
            value, ctype = self.value(node.expr, frame)
            return value, promote(ctype)
        if node.op == "-":
            value, ctype = self.value(node.expr, frame)
            return self._wrapped(value.neg(), promote(ctype), frame, node), promote(ctype)
        if node.op == "!":
            return self._truth(node, frame), INT
        self.want(node, frame)
        if node.op == "*":
            raise NotAffine(node, f"`{c_text(node)}` is read from memory")
        raise NotAffine(node, f"operator `{node.op}` is not affine")

    def _BinaryOp(self, node: c_ast.BinaryOp, frame: Frame) -> tuple[isl.PwAff, CType]:
        if node.op in _COMPARE or node.op in ("&&", "||"):
            return self._truth(node, frame), INT
        if node.op == "-" and self.invariants is not None and self.invariants.apart(node, frame, self) is not None:
            self.want(node, frame)
        left, lt = self.value(node.left, frame)
        right, rt = self.value(node.right, frame)
        if node.op in ("<<", ">>", "&", "^"):
            return self._bits(node, frame, left, promote(lt), right)
        ctype = self.common(lt, rt)
        left = self._convert(left, lt, ctype, frame, node)
        right = self._convert(right, rt, ctype, frame, node)
        return self._wrapped(self._arith(node, frame, left, right), ctype, frame, node), ctype

    def _arith(self, node: c_ast.BinaryOp, frame: Frame, left: isl.PwAff, right: isl.PwAff) -> isl.PwAff:
        if node.op == "+":
            return left.add(right)
        if node.op == "-":
            return left.sub(right)
        if node.op == "*":
            if constant_of(left) is None and constant_of(right) is None:
                raise NotAffine(node, f"`{c_text(node)}` multiplies two values that are not constant")
            return left.mul(right)
        if node.op in ("/", "%"):
            where, divisor = frame.domain.intersect_params(self.ranges), constant_of(right)
            if divisor == 0:
                raise NotAffine(node, f"`{c_text(node)}` divides by zero")
            if divisor is not None:
                return by_number(node.op, left, divisor, where)
            made = by_value(node.op, left, right, where)
            if made is None:
                why = "divides by something that is neither a constant nor known to fit a few times"
                raise NotAffine(node, f"`{c_text(node)}` {why}")
            return made
        raise NotAffine(node, f"operator `{node.op}` is not affine")

    def _bits(
        self, node: c_ast.BinaryOp, frame: Frame, left: isl.PwAff, lt: CType, right: isl.PwAff
    ) -> tuple[isl.PwAff, CType]:
        amount = constant_of(right)
        if amount is None or amount < 0 or (node.op not in "&^" and amount > 62):
            raise NotAffine(node, f"`{c_text(node)}` needs a constant right-hand side")
        if node.op == "^":
            return flipped(left, amount), lt
        if node.op == "<<":
            scaled = left.scale_val(isl.Val(1 << amount, context=left.get_ctx()))
            return self._wrapped(scaled, lt, frame, node), lt
        negative = frame.domain.intersect(left.lt_set(frame.zero())).intersect_params(self.ranges)
        if not negative.is_empty() or (node.op == "&" and amount & (amount + 1)):
            raise NotAffine(node, f"`{c_text(node)}` is affine only for values that cannot be negative and masks 2^k-1")
        if node.op == ">>":
            return left.scale_down_val(isl.Val(1 << amount, context=left.get_ctx())).floor(), lt
        return left.mod_val(isl.Val(amount + 1, context=left.get_ctx())), lt

    def _TernaryOp(self, node: c_ast.TernaryOp, frame: Frame) -> tuple[isl.PwAff, CType]:
        cond = self.condition(node.cond, frame)
        yes, yt = self.value(node.iftrue, frame.restrict(cond))
        no, nt = self.value(node.iffalse, frame.restrict(cond.complement()))
        ctype = self.common(yt, nt)
        yes = self._convert(yes, yt, ctype, frame.restrict(cond), node)
        no = self._convert(no, nt, ctype, frame.restrict(cond.complement()), node)
        chosen = yes.intersect_domain(cond).union_add(no.intersect_domain(cond.complement()))
        # min and max written as ?: print and analyse far better in isl's own form.
        for simple in (yes.min(no), yes.max(no)):
            if chosen.is_equal(simple):
                return simple, ctype
        return chosen.coalesce(), ctype

    def _Cast(self, node: c_ast.Cast, frame: Frame) -> tuple[isl.PwAff, CType]:
        value, ctype = self.value(node.expr, frame)
        shape = self.types.shape(node.to_type)
        if shape.declarators or not shape.elem.is_int:
            raise NotAffine(node, f"the cast `{c_text(node)}` does not give an integer")
        return self._convert(value, ctype, shape.elem, frame, node), shape.elem

    def _FuncCall(self, node: c_ast.FuncCall, frame: Frame) -> tuple[isl.PwAff, CType]:
        name = getattr(node.name, "name", "")
        args = list(getattr(node.args, "exprs", None) or ())
        if name in self.functions:
            return self._inline(node, self.functions[name], args, frame)
        if len(args) == 2 and (name in _MIN_NAMES or name in _MAX_NAMES):
            (a, at), (b, bt) = self.value(args[0], frame), self.value(args[1], frame)
            return (a.min(b) if name in _MIN_NAMES else a.max(b)), self.common(at, bt)
        raise NotAffine(node, f"the call `{c_text(node)}` is not an affine expression")

    def _inline(
        self, node: c_ast.FuncCall, func: c_ast.FuncDef, args: list[c_ast.Node], frame: Frame
    ) -> tuple[isl.PwAff, CType]:
        """A call of a function whose body is one `return` of a formula of its parameters."""
        items = func.body.block_items or []
        formals = parameters(func)
        result = self.types.shape(func.decl.type.type)
        if len(items) != 1 or not isinstance(items[0], c_ast.Return) or len(formals) != len(args):
            raise NotAffine(node, f"the call `{c_text(node)}` is not a single return of an affine expression")
        if not result.elem.is_int or result.declarators or self.calls > 16:
            raise NotAffine(node, f"the call `{c_text(node)}` does not give an integer")
        bindings = dict(frame.bindings)
        for formal, arg in zip(formals, args, strict=True):
            bindings[formal.name] = Binding(arg, frame, self.types.shape(formal.type).elem)
        self.calls += 1
        try:
            inner = Frame(frame.space, frame.domain, frame.iterators, bindings, frame.locals)
            value, ctype = self.value(items[0].expr, inner)
        finally:
            self.calls -= 1
        return self._convert(value, ctype, result.elem, frame, node), result.elem

    # -- conditions --------------------------------------------------------------------------------

    def condition(self, node: c_ast.Node, frame: Frame) -> isl.Set:
        """The part of the frame's space where `node` is true. Raises NotAffine."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "!":
            return self.condition(node.expr, frame).complement()
        if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
            left = self.condition(node.left, frame)
            return left.intersect(self.condition(node.right, frame.restrict(left)))
        if isinstance(node, c_ast.BinaryOp) and node.op == "||":
            left = self.condition(node.left, frame)
            return left.union(self.condition(node.right, frame.restrict(left.complement()))).coalesce()
        asked = self.pointer_test(node, frame)
        if asked is not None:
            return asked.ge_set(frame.constant(1))
        if isinstance(node, c_ast.BinaryOp) and node.op in _COMPARE:
            a, at = self.value(node.left, frame)
            b, bt = self.value(node.right, frame)
            ctype = self.common(at, bt)
            a = self._convert(a, at, ctype, frame, node)
            b = self._convert(b, bt, ctype, frame, node)
            return _COMPARE[node.op](a, b)
        value, _ = self.value(node, frame)
        return value.ne_set(frame.zero())

    def _truth(self, node: c_ast.Node, frame: Frame) -> isl.PwAff:
        cond = self.condition(node, frame)
        one, zero = frame.constant(1), frame.zero()
        return one.intersect_domain(cond).union_add(zero.intersect_domain(cond.complement()))

    # -- wrapping ----------------------------------------------------------------------------------

    def bits(self, ctype: CType) -> int:
        """How many bits an integer type may have, at least."""
        return min(ctype.bits, 32) if self.dialect.narrow and ctype.varies else ctype.bits

    def range(self, ctype: CType) -> tuple[int, int]:
        """The values that it is sure to hold."""
        return ctype.range() if self.bits(ctype) == ctype.bits else (INT if ctype.signed else UINT).range()

    def safe_range(self, ctype: CType) -> tuple[int, int]:
        """The values that a conversion to it leaves alone on every machine."""
        return ctype.safe_range() if self.bits(ctype) == ctype.bits else self.range(ctype)

    def common(self, a: CType, b: CType) -> CType:
        """C's usual arithmetic conversions. Where `long` has 32 bits, it and an unsigned number are unsigned."""
        wide, other = (a, b) if a.bits >= b.bits else (b, a)
        mixed = self.bits(wide) < wide.bits and wide.signed and other.bits == 32 and not other.signed
        return UINT if mixed else common(a, b)

    def _convert(self, value: isl.PwAff, have: CType, want: CType, frame: Frame, node: c_ast.Node) -> isl.PwAff:
        """Conversion to another integer type; values that would change are assumed away."""
        low, high = self.safe_range(want)
        have_low, have_high = have.range()
        if have_low >= low and have_high <= high:
            return value
        self._assume(value, low, high, frame, node, f"`{c_text(node)}` converts to {want.shown} without change")
        return value

    def _wrapped(self, value: isl.PwAff, ctype: CType, frame: Frame, node: c_ast.Node) -> isl.PwAff:
        """The result of arithmetic: signed overflow is the source's own error, unless the compiler was told that it
        wraps around, as unsigned arithmetic does. What wraps must not."""
        if not ctype.signed or self.dialect.wraps:
            low, high = self.range(ctype)
            self._assume(value, low, high, frame, node, f"`{c_text(node)}` does not wrap around")
        return value

    def _assume(self, value: isl.PwAff, low: int, high: int, frame: Frame, node: c_ast.Node, reason: str) -> None:
        loc = location(node, self.fallback)
        self.assumptions.append(Assumption(frame.domain, value, low, high, reason, loc))


def constant_of(value: isl.PwAff) -> int | None:
    """The integer a value always is, or None."""
    if not value.is_cst() or value.n_piece() != 1:
        return None
    aff = value.get_pieces()[0][1]
    val = aff.get_constant_val()
    return int(val.get_num_si()) if val.is_int() else None


SHOWN = 40  # characters of a literal in a message


def refuse(error: NotAffine, id: str, what: str, hint: str, fallback: Loc) -> Unsupported:
    """A located refusal made of why something is not affine."""
    return Unsupported(id, f"{what}: {error.why}", location(error.node, fallback), hint)
