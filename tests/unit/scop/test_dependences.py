"""Dependences: exact, and the fallback for isl's flow analysis agrees with it."""
from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from codegen.options import GenOptions
from codegen.region_model import Modelled, model_region
from codegen.scop import dependences, flows
from codegen.scop.dependences import accesses_of, order_map, param_space, union_maps
from codegen.scop.flows import last_writers
from codegen.source_file import open_source

KERNELS = Path(__file__).resolve().parents[3] / "examples" / "kernels"


def modelled(text: str, options: GenOptions | None = None) -> Modelled:
    options = options or GenOptions()
    model = model_region(open_source("t.c", text, options).slices[0], options)
    assert model is not None
    return model


def region(params: str, body: str) -> Modelled:
    return modelled(f"void f({params})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def relation(model: Modelled, kind: str, array: str) -> isl.UnionMap:
    (found,) = [d.relation for d in model.program.deps.all if (d.kind, d.array) == (kind, array)]
    return found


def test_flow_comes_from_the_last_writer() -> None:
    model = region("int n, double *a", "for (int i = 0; i < n; i++) { a[i] = 1; a[i] = 2; a[i] = a[i] + 1; }")
    want = isl.UnionMap("[n] -> { S2[i] -> S3[i] : 0 <= i < n }")
    assert relation(model, "flow", "a").is_equal(want)


def test_many_reads_are_fed_as_if_they_were_asked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = " + ".join(f"a[i + {k}]" for k in range(-5, 6))
    body = f"for (int t = 0; t < m; t++) for (int i = 5; i < n - 5; i++) a[i] = {reads};"
    one_by_one = region("int n, int m, double *a", body).program.deps
    monkeypatch.setattr(flows, "FEW", 100)
    at_once = region("int n, int m, double *a", body).program.deps
    assert one_by_one.flows["a"].is_equal(at_once.flows["a"])
    assert one_by_one.live_in.is_equal(at_once.live_in)
    assert not one_by_one.live_in.is_empty()


def test_anti_and_output_connect_neighbours() -> None:
    model = region("int n, double *a", "for (int i = 0; i < n; i++) a[0] = a[1 + i];")
    assert {d.kind for d in model.program.deps.all} == {"output"}
    want = isl.UnionMap("[n] -> { S1[i] -> S1[1 + i] : 0 <= i < n - 1 }")
    assert relation(model, "output", "a").is_equal(want)


def test_reversed_loop_runs_down() -> None:
    model = region("int n, double *a", "for (int i = n - 2; i >= 0; i--) a[i] = a[i + 1];")
    want = isl.UnionMap("[n] -> { S1[i] -> S1[i - 1] : 1 <= i <= n - 2 }")
    assert relation(model, "flow", "a").is_equal(want)


def test_free_reduction_keeps_the_order_with_readers() -> None:
    model = region("int n, unsigned *s, unsigned *b", "for (int i = 0; i < n; i++) { b[i] = s[0]; s[0] += 3; }")
    assert not model.program.deps.folds["s"].is_empty()
    readers = relation(model, "flow", "s")
    # Every earlier addition, not only the last, must stay in front of a reader.
    want = isl.UnionMap("[n] -> { S2[i] -> S1[j] : 0 <= i < j < n }")
    assert readers.is_equal(want)


@pytest.mark.parametrize("name", ["gemm", "lu", "nussinov", "red-black-gs", "heat-periodic", "cgemm", "suffix-sum"])
def test_fallback_agrees_with_isl(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = KERNELS / f"{name}.c"
    model = model_region(open_source(str(path), path.read_text(), GenOptions()).slices[0], GenOptions())
    assert model is not None
    scop, order = model.program.scop, order_map(model.program.scop, model.program.tree)
    for array in scop.arrays:
        reads, writes = (union_maps(accesses_of(scop, array, w), param_space(scop)) for w in (False, True))
        if reads.is_empty() or writes.is_empty():
            continue
        flow, unfed = last_writers(reads, writes, order)
        with monkeypatch.context() as patch:
            patch.setattr(dependences.isl.UnionAccessInfo, "from_sink", _fail)
            again, unfed_again = last_writers(reads, writes, order)
        assert flow.is_equal(again) and unfed.is_equal(unfed_again)


def _fail(*_: object) -> None:
    raise isl.Error("as if isl could not")


@pytest.mark.parametrize("first", ["", "    for (int m = 0; m < 3; m++)\n      a[i][m][1] = 0;\n"])
def test_constant_subscripts_are_told_apart_before_the_flow_analysis(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elements that differ in constants are looked at one by one, those that a loop goes through, too; the dependences
    are those of all at once."""
    lines = [f"    a[i][{k % 3}][1] = a[i][{(k + 1) % 3}][1] + a[{'i' if k % 2 else 'n - 1 - i'}][{k % 3}][1];\n"
             for k in range(6)]  # fmt: skip
    head = "void f(int n, double a[n][3][2])\n{\n#pragma scop\n  for (int i = 0; i < n; i++) {\n"
    text = "".join([head, first, *lines, "  }\n#pragma endscop\n}\n"])
    (s,) = open_source("c.c", text, GenOptions()).slices
    found = []
    for few in (1000, flows.FEW):
        monkeypatch.setattr(flows, "FEW", few)
        monkeypatch.setattr(dependences, "_KNOWN", {})
        model = model_region(s, GenOptions())
        assert model is not None
        found.append(model.program.deps)
    whole, apart = found
    assert [(d.kind, d.array) for d in whole.all] == [(d.kind, d.array) for d in apart.all]
    assert all(a.relation.is_equal(b.relation) for a, b in zip(whole.all, apart.all, strict=True))
    assert whole.live_in.is_equal(apart.live_in)


def test_times_among_some_statements() -> None:
    """What else stands in a sequence does not change the order of those that are asked about; their own order does."""
    i = isl.PwAff("[n] -> { [i] -> [(i)] }")
    near = dependences._relative([[0, i, 0], [0, i, 1], [1, i]])
    far = dependences._relative([[2, i, 3], [2, i, 7], [9, i]])
    assert near == far == [0, i, 0, -1, 0, i, 1, -1, 1, i, -1]
    assert dependences._relative([[2, i, 7], [2, i, 3], [9, i]]) != near
    assert dependences._relative([[0, i, 0], [1, i, 0], [1, i]]) != near


@pytest.mark.parametrize(
    "body",
    [
        "{ a[i] = 1; a[i] *= 3; a[i] += b[i]; }",  # all reads are of what the statement writes itself
        "{ a[i] = b[i]; a[i] *= 3; b[i] = a[i] + a[i + 1]; }",  # some are
        "{ a[i] += a[i + 1]; b[i] = a[i]; a[i + 1] += b[i]; }",
        "{ if (i > 3) a[i] += 1; a[2 * i] *= a[i]; }",
        "for (int j = 0; j < i; j++) { a[j] += b[i]; b[j] -= a[i]; a[0] *= 2; }",
    ],
)
def test_false_dependences_lead_to_the_next_write(body: str) -> None:
    model = region("int n, double *restrict a, double *restrict b", f"for (int i = 0; i < n; i++) {body}")
    scop, deps = model.program.scop, model.program.deps
    times = order_map(scop, model.program.tree)
    for name in ("a", "b"):
        reads, writes = (
            union_maps(accesses_of(scop, name, w), param_space(scop)).intersect_params(scop.context)
            for w in (False, True)
        )
        output = _to_the_next(writes, writes, times)
        want = {"output": output, "anti": _to_the_next(reads, writes, times).subtract(output)}
        for kind, pairs in want.items():
            found = [d.relation for d in deps.all if (d.kind, d.array) == (kind, name)]
            assert found[0].is_equal(pairs) if found else pairs.is_empty()


def _to_the_next(accesses: isl.UnionMap, writes: isl.UnionMap, times: isl.UnionMap) -> isl.UnionMap:
    """From each access to the next write of its element, straight from the definition."""

    def later(first: isl.UnionMap) -> isl.UnionMap:
        same = first.range_map().apply_range(writes.range_map().reverse())
        when = (x.domain_map().apply_range(times) for x in (first, writes))
        return same.intersect(next(when).lex_lt_union_map(next(when)))

    found = later(accesses).subtract(later(accesses).apply_range(later(writes)))
    return found.apply_domain(accesses.domain_map()).apply_range(writes.domain_map())
