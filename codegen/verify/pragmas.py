"""Proof of what stands ahead of loops for threads and lanes: printed directives and their clauses, read back.

The proofs of the tree show that iterations of a loop may run beside each other as its kind says, but for what it
gathers. Here it is shown that a directive asks for no more than that: that every variable is gathered by a clause which
the loop gathers, and no other one; that a clause which gives threads copies names variables which no iteration changes;
that whatever an iteration has for itself is declared inside it; and that what is gathered comes from the variable of
the source and goes back there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import islpy as isl

from codegen.ast.ctree import Declare, For, Instance, walk
from codegen.recognize.reductions import unsigned_for
from codegen.record import record
from codegen.scop.model import Scop
from codegen.scop.tree import PARALLEL_VECTOR, PIPELINED, SHARED, THREADED, VECTOR
from codegen.target.text.pieces import View, beside, texts_of
from codegen.verify.pipelines import VARIABLE, check_pipeline
from codegen.verify.text.read import Unread

_CLAUSE = re.compile(r" ?(\w+)\(")
_SET = re.compile(r"(?<![\w.>\])\"])([A-Za-z_]\w*) (?:[-+*/%&|^]|<<|>>)?= ")
_STEPPED = re.compile(r"(?:\+\+|--)([A-Za-z_]\w*)\b(?![\[.(]|->)|(?<![\w.>\])])([A-Za-z_]\w*)(?:\+\+|--)")
_DECLARED = re.compile(
    r"(?:^|[;{(] ?)(?:_Alignas\(\d+\) )?[A-Za-z_]\w*(?: \w+)*? "
    r"(?:\(?\*(?:const |restrict )*)*([A-Za-z_]\w*)\)?(?:\[[^\]]*\])*(?: =|;)"
)
_THREADS = "(int)tw_min(tw_max_threads(), TW_LINE)"
_LANES = ("TW_SIMD", "TW_IVDEP")


@record
class Directive:
    """The words of a directive, and its clauses in order."""

    words: frozenset[str]
    clauses: tuple[tuple[str, str], ...]

    def named(self, clause: str) -> list[str]:
        return [text for name, text in self.clauses if name == clause]


def wrong_pragmas(scop: Scop, views: Sequence[View], team: bool) -> str:
    """What is wrong with the directives among views; empty where nothing is. With `team`, all of them run on threads
    that are there."""
    try:
        check = _Pragmas(scop, team)
        for v in views:
            check.visit(v, ())
    except Unread as problem:
        return str(problem)
    except (KeyError, isl.Error):
        return "a directive is of a form that is not read"
    return ""


def read_directive(text: str) -> Directive:
    """Raises Unread."""
    if text in _LANES:
        return Directive(frozenset(("simd",)), ())
    head = re.match(r"#pragma omp((?: (?:parallel|for|simd)\b)+)", text)
    if head is None:
        raise Unread(f"a directive of another form: `{text}`")
    at, clauses = head.end(), []
    while at < len(text):
        m = _CLAUSE.match(text, at)
        end = _closed(text, m.end()) if m is not None else 0
        if m is None or not end:
            raise Unread(f"a directive of another form: `{text}`")
        clauses.append((m[1], text[m.end() : end - 1]))
        at = end
    return Directive(frozenset(head[1].split()), tuple(clauses))


def _closed(text: str, at: int) -> int:
    """Where a parenthesis that was opened before `at` is closed, and one further."""
    depth = 1
    for k in range(at, len(text)):
        depth += (text[k] == "(") - (text[k] == ")")
        if not depth:
            return k + 1
    return 0


class _Pragmas:
    def __init__(self, scop: Scop, team: bool) -> None:
        self.scop, self.team = scop, team

    def visit(self, v: View, around: tuple[View, ...]) -> None:
        if v.pragma:
            if v.kind != "for" or v.loop is None:
                raise Unread(f"`{v.pragma}` stands ahead of no loop")
            self._check(v, v.loop, around)
        if self.team and v.kind == "stmt" and v.stmt and not any(" for" in x.pragma for x in around):
            raise Unread("a statement runs on every thread of a team")
        for child in (*v.body, *v.orelse):
            self.visit(child, (*around, v))

    def _check(self, v: View, node: For, around: tuple[View, ...]) -> None:
        d = read_directive(v.pragma)
        self._check_kind(d, node, v, around)
        self._check_reductions(d, v, node, around)
        copies = [n for text in d.named("firstprivate") for n in text.split(", ")]
        texts = [x for x in (v.head, *texts_of(v.body)) if x]
        changed, declared = set(_changed(texts)), set(_declared(texts))
        gathered = {n for _, n in _reductions(d)}
        constants = self._constants() | self._only_read(node)
        for name in copies:
            if name in changed | declared | gathered or name not in constants or _has_address(name, texts):
                raise Unread(f"threads have copies of `{name}`, which is no variable that stays as it is")
        if d.words & {"parallel", "for"}:
            self._check_own(node, changed, declared, gathered)
        for name, text in d.clauses:
            if not self._means_nothing(name, text, v, node):
                raise Unread(f"a clause of another form: `{name}({text})`")

    def _check_kind(self, d: Directive, node: For, v: View, around: tuple[View, ...]) -> None:
        """Threads and lanes for loops that were proven to need no order; threads once."""
        kind, words = node.loop.kind, d.words
        inside = any(" parallel" in x.pragma or " for" in x.pragma for x in around)
        if "for" in words:
            fits = kind in THREADED and ("parallel" in words) != self.team and not inside
        else:
            fits = "parallel" not in words or (kind == PIPELINED and not self.team and not inside)
        if "simd" in words and kind not in (VECTOR, PARALLEL_VECTOR):
            fits = False
        if not fits or VARIABLE.match(v.head) is None:
            raise Unread(f"`{v.pragma}` asks for more than a loop may have that is {kind or 'sequential'}")
        if kind == PIPELINED and "parallel" in words:
            check_pipeline(self.scop, v, node, around)

    def _check_reductions(self, d: Directive, v: View, node: For, around: tuple[View, ...]) -> None:
        """What the loop gathers, by the names of the text; in a variable of its own where others see the source's."""
        wanted = {("+" if op == "-" else op, a): self.scop.arrays[a] for op, a in node.loop.reductions}
        names = {(op, x.name if x.inside else x.base): x for (op, _), x in wanted.items()}
        printed = _reductions(d)
        if sorted(printed) != sorted(names) or any(x.rank for x in names.values()):
            raise Unread(f"`{v.pragma}` gathers other variables than its loop")
        inside = [self.scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance)]
        for (_, name), array in names.items():
            wide = unsigned_for(self.scop, (s for s in inside if s.accesses[s.target].array == array.name))
            kind = array.elem.spelling
            if wide is not None:
                _check_unsigned(name, kind, wide.spelling, array.unshared, (*around, v))
            elif not array.unshared:
                _check_copied(name, kind, (*around, v))

    def _check_own(self, node: For, changed: set[str], declared: set[str], gathered: set[str]) -> None:
        """Whatever is set in an iteration is its own, is gathered, or is memory of the model, which proofs speak of."""
        arrays = self.scop.arrays
        held = {arrays[h.array].name for x in walk(node.body) if isinstance(x, Declare) for h in x.slots}
        inside = [self.scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance)]
        stored = [arrays[a.array] for s in inside for a in s.writes]
        shared = {x.name if x.inside else x.base for x in stored if x.name not in held}
        for name in sorted(changed - declared):
            if name not in shared and name not in gathered:
                raise Unread(f"`{name}` is set by several threads")
        if lost := sorted(declared & {x.name for x in stored if x.inside} - held):
            raise Unread(f"`{lost[0]}` is declared for each iteration, and lives longer")

    def _constants(self) -> set[str]:
        """Variables whose values a region only reads, and that are no arrays: parameters of functions are pointers."""
        used = ((self.scop.arrays[a.array], a.path) for _, a in self.scop.accesses())
        pointers = {x.base for x, path in used if x.place == "param" and path and path[0].kind != "member"}
        return {p.text for p in self.scop.params if p.is_variable} | pointers

    def _only_read(self, node: For) -> set[str]:
        """Numbers that the region has for itself, and that no statement of a loop sets."""
        inside = [self.scop.statement(x.stmt) for x in walk(node) if isinstance(x, Instance)]
        stored = {a.array for s in inside for a in s.writes}
        return {x.name for x in self.scop.arrays.values() if x.of_region and x.name not in stored}

    def _means_nothing(self, name: str, text: str, v: View, node: For) -> bool:
        """Does a clause only say which iterations a thread takes, or how many threads there are?"""
        if name == "schedule":
            return re.fullmatch(r"static(, [1-9]\d*)?", text) is not None
        if name == "if":
            return text.startswith("parallel: ") and not set(_changed([text]))
        if name == "num_threads":
            return text == _THREADS and node.loop.kind == PIPELINED
        if name == "collapse":
            return text == "2" and _collapses(v, node)
        return name in ("reduction", "firstprivate")


def _reductions(d: Directive) -> list[tuple[str, str]]:
    found = [text.partition(":") for text in d.named("reduction")]
    return [(op, name.strip()) for op, _, name in found]


def _collapses(v: View, node: For) -> bool:
    """Is there nothing but a second loop that may be shared out, whose length does not depend on the first one?"""
    var = VARIABLE.match(v.head)
    if len(v.body) != 1 or var is None:
        return False
    inner = v.body[0]
    loop = node.body
    same = inner.kind == "for" and not inner.pragma and inner.loop is loop
    return same and isinstance(loop, For) and loop.loop.kind == SHARED and not re.search(rf"\b{var[1]}\b", inner.head)


def _check_copied(name: str, kind: str, around: Sequence[View]) -> None:
    """A variable of the same name that comes from the one that others may see, and goes there where it has changed."""
    at = f"tw_{name}"
    first = [f"{kind} *const {at} = &{name};", f"{kind} {name} = *{at};"]
    last = [f"if (__builtin_memcmp(&{name}, {at}, sizeof {name})) *{at} = {name};"]
    if (first, last) not in _scopes(around):
        raise Unread(f"`{name}` is gathered where others may see it")


def _check_unsigned(name: str, kind: str, wide: str, unshared: bool, around: Sequence[View]) -> None:
    """The same with a type in which nothing overflows."""
    at, scopes = f"tw_{name}", _scopes(around)
    test = "" if unshared else f"if (({kind}){at} != {name}) "
    inner = ([f"{wide} {name} = {at};"], [f"{at} = {name};"])
    outer = ([f"{wide} {at} = ({wide}){name};"], [f"{test}{name} = ({kind}){at};"])
    if inner not in scopes or outer not in scopes:  # the second is looked for around the first
        raise Unread(f"`{name}` may overflow where it is gathered, or is not given back")


def _scopes(around: Sequence[View]) -> Iterator[tuple[list[str], list[str]]]:
    """What stands ahead of the last of these and behind it in each scope around it, the nearest first: a block, or a
    body or a branch that needs no block of its own."""
    for outer, inner in zip(reversed(around[:-1]), reversed(around[1:]), strict=True):
        first, last = beside(outer, inner)
        yield [x.head for x in first], [x.head for x in last]


def _has_address(name: str, texts: Sequence[str]) -> bool:
    """Is there a pointer to the variable itself, not to an element behind it?"""
    return any(re.search(rf"&{name}\b(?!\[|\.|->)", text) for text in texts if f"&{name}" in text)


def _changed(texts: Sequence[str]) -> Iterator[str]:
    """Variables that get a value; those of declarations, too."""
    for text in texts:
        yield from _SET.findall(text)
        yield from (a or b for a, b in _STEPPED.findall(text))


def _declared(texts: Sequence[str]) -> Iterator[str]:
    """Variables of declarations, of which one may have several."""
    for text in texts:
        for m in _DECLARED.finditer(text):
            yield m[1]
            yield from (x[0] for part in _further(text, m.end()) if (x := re.match(r"[A-Za-z_]\w*", part)))


def _further(text: str, at: int) -> Iterator[str]:
    """What stands behind the commas of a declaration, up to its end."""
    depth = 0
    for k in range(at if text[at - 1] != ";" else len(text), len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if text[k] == ";" or depth < 0:
            return
        if text[k] == "," and not depth:
            yield text[k + 1 :].lstrip(" *")
