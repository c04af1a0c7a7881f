"""Builds the model of a region (`model_region`): its statements, their order and dependences, as the source has them,
under the assumptions of options and hints. None if it is empty; raises Unsupported."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import islpy as isl
from pycparser import c_ast

from codegen.diagnostics import Diagnostic, InputError, Loc, Unsupported
from codegen.frontend.build import Extracted, extract
from codegen.frontend.expressions.affine import c_text
from codegen.frontend.parameters.affine_uses import not_plain
from codegen.frontend.prepare import declared_pure, distinct_hint, prepared, pure_hint
from codegen.frontend.rewrite.roots import with_roots_apart
from codegen.frontend.statements.overloads import with_overloads
from codegen.frontend.statements.team import check_shared, in_team
from codegen.frontend.syntax.constructs import check_constructs
from codegen.frontend.syntax.symbols import RegionSite, find_site, part_of
from codegen.frontend.syntax.tree import nodes
from codegen.options import FUSIONS, GenOptions
from codegen.plan_reader.hinted import plan_hint
from codegen.recognize.privatize.lastprivate import lastprivates, privatization_remarks
from codegen.recognize.privatize.privates import privatize, privatize_roomy
from codegen.recognize.reductions import free_pairs
from codegen.recognize.stores import settled
from codegen.record import record
from codegen.scop.dependences import compute_dependences, value_flows
from codegen.scop.effort import Exhausted, at_most, part, reading, spend
from codegen.scop.model import Scop
from codegen.source.macros.named import without_names
from codegen.source.parse import Parsed, name_data, parse_with_gaps
from codegen.source.region_slice import RegionSlice
from codegen.targets.base import Target
from codegen.targets.registry import target_named
from codegen.transform.program import Program, make_program

MODEL = 4  # the model of a region gets one part in so many of its counted work
TOO_MUCH = "its part of the counted work was used up"


@record
class Modelled:
    """A region with its model in source order."""

    site: RegionSite
    program: Program
    digest: str
    remarks: tuple[Diagnostic, ...] = ()
    fusion: str = ""  # what a hint asks for
    alone: bool = False  # it runs on the thread that comes to it, one of a team or with variables of its own
    team: bool = False  # all threads of a team that is there already come to it, and share its loops
    kept: Mapping[str, int] = field(default_factory=dict)  # macros that are parameters in it, and what they stand for
    piece: int = 0  # which piece of the region it is; 0: all of it

    def threads(self, options: GenOptions) -> bool:
        """May its loops share their iterations among threads?"""
        return target_named(options.target).threads and not self.alone


def model_region(s: RegionSlice, options: GenOptions) -> Modelled | None:
    """The model of a region, with macros by their names where they may have any value; None when there is nothing in
    it. Raises Unsupported."""
    named = s.named
    try:
        while named is not None and named.values:
            shaping = not_plain(_site(named).statements, [n for n, _ in named.values])
            if not shaping:
                model = _model_region(named, options)
                kept = {n: int(b.strip("( )\t")) for n, b in named.values}
                return None if model is None else replace(model, kept=kept)
            named = without_names(named, shaping)
    except Unsupported:
        pass
    return _model_region(s, options)


def _site(s: RegionSlice) -> RegionSite:
    spend(2 * reading(s.text))  # to parse it, and for the passes over the whole function
    return site_in(parse_with_gaps(s), s)


def site_in(parsed: Parsed, s: RegionSlice) -> RegionSite:
    """The region, or the piece of it that is meant, in the parser's tree, in forms that the walk over it knows."""
    tree, p, r = with_overloads(parsed.ast), s.piece, s.region
    if "long" in s.text:
        name_data(tree)
    site = find_site(tree, s.file, r.first_line, r.last_line, parsed.hidden, s.thread_private)
    distinct = frozenset[str]().union(*(distinct_hint(hint.text) for hint in r.hints))
    site = replace(site, distinct=distinct, macros=s.macros, dialect=s.dialect)
    return prepared(site if p is None else part_of(site, p.path, p.first, p.after), declared_pure(s))


def _model_region(s: RegionSlice, options: GenOptions) -> Modelled | None:
    loc = Loc(s.file, s.region.first_line, 1)
    try:
        with at_most(part(options.timeout, MODEL)):
            return _modelled(s, options)
    except Exhausted:
        raise too_much(options, loc) from None
    except isl.Error as error:
        raise Unsupported(
            "isl-failed",
            f"isl could not analyse the region: {str(error).splitlines()[0]}",
            loc,
            "simplify its bounds and subscripts, or split the region",
        ) from None


@record
class _Hints:
    """What options and hints in the source say about a region's model: assumptions and where they stand, whether sums
    may be reordered, and which statements to fuse."""

    assumptions: Sequence[tuple[str, Loc]]
    reassociate: bool
    fusion: str


def _hints(s: RegionSlice, options: GenOptions) -> _Hints:
    assumptions = [(options.context, Loc("--context"))] if options.context.strip() else []
    reassociate, fusion = options.reassociate, ""
    for hint in s.region.hints:
        word, _, rest = hint.text.strip().partition("(")
        if word.strip() == "assume" and rest.endswith(")"):
            assumptions.append((rest[:-1], Loc(s.file, hint.line, 1)))
        elif word.strip() == "reassociate":
            reassociate = True
        elif pure_hint(hint.text) or distinct_hint(hint.text) or (word.strip() == "comm" and rest.endswith(")")):
            continue
        elif word.strip() == "fusion" and rest.rstrip(") ") in FUSIONS:
            fusion = rest.rstrip(") ")
        elif plan_hint(hint) is None:
            raise InputError(
                "bad-hint",
                f"unknown hint `{hint.text.strip()}`",
                Loc(s.file, hint.line, 1),
                _known_hints(word.strip()),
            )
    return _Hints(assumptions, reassociate, fusion)


def _modelled(s: RegionSlice, options: GenOptions) -> Modelled | None:
    site = replace(_site(s), constants=options.constants)
    hints = _hints(s, options)
    target = target_named(options.target)
    site = with_roots_apart(site) if target.runs_here else site
    team = in_team(site, target.threads and target.runs_here)
    within = check_constructs(site, not target.runs_here and not target.threads)
    within = None if team else within
    found: Extracted = extract(site, s.region.index, declared_pure(s), hints.assumptions)
    if found.tree is None:
        return None
    check_data(site, found.scop)
    if found.scop.own and not target.own_variables:
        why = f"the target {target.name} cannot leave a new address in `{found.scop.own[0].source}`"
        raise Unsupported("pointer-unknown", why, site.loc, "use subscripts in place of a pointer that moves")
    tree, found = found.tree, replace(found, scop=settled(found.scop, site, found.tree))
    found = replace(found, scop=target.prepared(found.scop))
    scop = privatize(found.scop, tree, value_flows(found.scop, tree), site)
    deps = compute_dependences(scop, tree)
    if target.private_arrays:
        scop, deps = privatize_roomy(scop, tree, deps, site)
    last = lastprivates(scop, tree, deps) if target.private_arrays else None
    if last is not None:
        scop, tree, deps = last.scop, last.tree, last.deps
    free = free_pairs(scop, hints.reassociate)
    if free:
        deps = compute_dependences(scop, tree, free)
    if team:
        texts = {*(p.text for p in scop.params), *(c.text for c in scop.computed)}
        check_shared(site, texts | {a.base for a in scop.arrays.values() if not a.inside})
    own = thread_local(site, found.scop.names, target, s.region.first_line)
    remarks = (*((within,) if within else ()), *own, *found.remarks, *privatization_remarks(found.scop, scop, last))
    program = make_program(scop, deps, tree, hints.reassociate)
    number = 0 if s.piece is None else s.piece.number
    return Modelled(site, program, _digest(site), remarks, hints.fusion, bool(own) or within is not None,
                    team, piece=number)  # fmt: skip


def check_data(site: RegionSite, scop: Scop) -> None:
    """Whether flags of the compiler make data something else than the model takes them for. Raises Unsupported."""
    loc, arrays = site.loc, scop.arrays.values()
    long = next((a for a in arrays if a.elem.varies), None)
    if site.dialect.narrow and long is not None:
        why = f"`{long.base}` is of type `{long.elem.shown}`, and `long` has 32 bits there: the model counts on 64"
        raise Unsupported("compiler-flag", why, loc, "give it a type of a fixed width, such as int32_t")
    flag = next((f for f in site.dialect.refused if f.reals), None)
    if flag is not None and not (all(a.elem.is_int for a in arrays) and _of_integers(site)):
        raise Unsupported("compiler-flag", flag.message, loc, flag.hint)


def _of_integers(site: RegionSite) -> bool:
    """Are all constants integers, and is nothing called?"""
    every = (n for s in site.statements for n in nodes(s))
    return not any(isinstance(n, c_ast.FuncCall) or _is_real(n) for n in every)


def _is_real(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and "int" not in node.type and node.type != "char"


def _known_hints(word: str) -> str:
    """What may stand behind `#pragma tilewright`; the one that is probably meant, if that is not the word itself."""
    known = {"assume": "assume(condition)", "pure": "pure(function, ...)", "reassociate": "reassociate",
             "distinct": "distinct(array, ...)", "comm": "comm(communicator)",
             "plan": "plan(file)", "fusion": f"fusion({'|'.join(FUSIONS)})"}  # fmt: skip
    import difflib  # only then: start-up time counts in a build

    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean `{known[close[0]]}`?" if close else f"known hints: {', '.join(known.values())}"


def thread_local(site: RegionSite, names: frozenset[str], target: Target, line: int) -> tuple[Diagnostic, ...]:
    """What the target says of variables of which each thread has its own."""
    own = sorted(n for n in names if n in site.variables and site.variables[n].thread_local)
    return target.check_thread_local(own[0], Loc(site.loc.file, line, 1)) if own else ()


def _digest(site: RegionSite) -> str:
    """Identifies the region's code, whatever its layout and comments."""
    text = "\n".join(c_text(n) for n in site.statements)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def too_much(options: GenOptions, loc: Loc) -> Unsupported:
    """The region's counted work is used up."""
    return Unsupported(
        "timeout",
        f"its analysis takes more work than is allowed for {options.timeout:g} s",
        loc,
        "raise --timeout, or split the region",
    )
