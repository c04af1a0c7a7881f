"""Errors, warnings and notes that are no refusals: each id once, with its exit status and place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.refusals import INPUT, INTERNAL, TABLE, WARNING
from tests.unmarked import unmarked

REGION = """\
void f(int n, double A[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        A[i] = A[i - 1] + 1.0;
#pragma endscop
}
"""


@pytest.fixture
def gen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """gen(source, *words) -> exit status, output, messages; the source is in.c of an empty working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def go(source: str, *words: str) -> tuple[int, str, list[dict]]:
        Path("in.c").write_text(source, encoding="utf-8")
        code = main(["gen", "in.c", "--diagnostics-format", "json", *words])
        out, err = capsys.readouterr()
        return code, out, json.loads(err)

    return go


def _file(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def _plan(text: str) -> tuple[str, str]:
    return "--plan", _file("p.plan", text)


ERRORS = {
    "bad-context": lambda: (REGION, ("--context", "n is large"), "--context", 0),
    "bad-database": lambda: (REGION, ("-p", _file("compile_commands.json", "[]")), "compile_commands.json", 0),
    "bad-hint": lambda: (REGION.replace("#pragma scop", "#pragma tilewright faster\n#pragma scop"), (), "in.c", 3),
    "bad-isa": lambda: (REGION, ("--isa", _file("i.toml", 'name = "i"\nlike = "mmx"\n')), "i.toml", 2),
    "bad-machine": lambda: (REGION, ("--machine", _file("m.toml", 'name = "m"\nthis is no TOML\n')), "m.toml", 2),
    "bad-profile": lambda: (REGION, ("--auto", "--profile", _file("p.txt", "50% in.c:5\nslow\n")), "p.txt", 2),
    "bad-plan": lambda: (REGION, _plan("region 1\n  sing i\n"), "p.plan", 2),
    "illegal-plan": lambda: (REGION, _plan("region 1\n  reverse i\n"), "p.plan", 2),
    "name-taken": lambda: (REGION.replace("A", "my_min"), (*_plan("region 1\n  tile i:9\n"), "--prefix=my"), "in.c", 1),
    "bad-communicator": lambda: (REGION, ("--target", "mpi", "--comm", "comm = half"), "--comm", 0),
    "mpi-program": lambda: ("int MPI_Barrier(int);\n" + REGION, ("--target", "mpi"), "in.c", 1),
    "bad-distribution": lambda: (REGION, ("--target", "mpi", "--distribute", "A: rows"), "--distribute", 0),
    "bad-network": lambda: (REGION, ("--target", "mpi", "--network", "pigeons"), "--network", 0),
    "no-data-cache": lambda: (REGION, ("--target", "sunway", "-o", "out.c", "--ldm-cache", "32"), "--ldm-cache", 0),
    "needs-preprocessor": lambda: (REGION + "#define X 1\n", ("--no-cpp",), "in.c", 8),
    "no-preprocessor": lambda: (REGION, ("--cpp", "no-such-compiler -E"), "in.c", 0),
    "preprocess-failed": lambda: ('#include "missing.h"\n' + REGION, (), "in.c", 1),
    "stale-plan": lambda: (REGION, _plan("region 1 digest 0123456789ab\n  parallel i\n"), "p.plan", 1),
    "unbalanced-scop": lambda: (REGION.replace("#pragma endscop\n", ""), (), "in.c", 3),
    "unknown-machine": lambda: (REGION, ("--machine", "abacus"), "tilewright", 0),
    "not-generated": lambda: (REGION, ("-o", _file("mine.c", "int x;\n")), "mine.c", 0),
    "cannot-write": lambda: (REGION, ("-o", "no/such/folder/out.c"), "no/such/folder/out.c", 0),
    "cannot-read": lambda: (REGION, ("--plan", "missing.plan"), "missing.plan", 0),
}


@pytest.mark.parametrize("id", sorted(ERRORS))
def test_error(id: str, gen) -> None:
    source, words, file, line = ERRORS[id]()
    code, out, messages = gen(source, *words)
    error = next(m for m in messages if m["severity"] == "error")
    assert (code, out) == (1, "")
    assert (error["id"], error["file"], error.get("line", 0)) == (id, file, line)
    assert not Path("out.c").exists()


def test_every_error_id_has_a_test() -> None:
    elsewhere = {"strict", "bad-target", "does-not-compile", "no-compiler"}  # test_cases.py; the check command
    elsewhere.add("bad-threads")  # tests/sunway/test_command.py
    elsewhere.add("limit-passed")  # tests/cli/test_limits.py
    elsewhere.add("no-device")  # tests/gpu/test_tune.py
    elsewhere.add("device-arrays")  # tests/gpu/test_refusals.py
    elsewhere.add("no-sources")  # tests/cli/test_scan.py
    elsewhere.add("not-here")  # tests/serve/test_server.py
    elsewhere |= {"bad-descriptor", "bad-kernel", "cannot-compile", "cannot-keep", "ranks-differ", "unknown-format",
                  "unsolved-format"}  # tests/sparse/test_errors.py
    elsewhere |= {"interrupted", "no-scheduler", "unknown-parameter", "worker-failed"}  # tests/tune/
    elsewhere |= {"bad-pragma", "bad-sizes", "other-language", "not-measured"}  # tests/cli/test_bad_words.py
    assert set(ERRORS) == {e.id for e in TABLE if e.family == INPUT} - elsewhere


@pytest.mark.parametrize(
    "plan, line, col, words",
    [
        ("tile i:32\n", 1, 1, "'region'"),
        ("region 1\n  tile i:-4\n", 2, 10, "negative"),
        ("region 1\n  tile i\n", 3, 1, "':'"),
        ("region 1\n  unroll i by 1\n", 2, 15, "between 2 and 64"),
        ("region 1\n  skew i by 2 j\n", 2, 15, "'*'"),
        ("region 2\n  parallel i\n", 1, 8, "no region 2"),
        ("region 1\n  parallel i\nregion 1\n", 3, 8, "planned twice"),
        ("region 1\n  schedule { loop i { S2 } }\n", 2, 3, "S2"),
        ("region 1\n  schedule { loop i { } }\n", 2, 23, "empty loop"),
        ("region 1\n  schedule { loop i = (i*i) { S1 } }\n", 2, 19, "not an affine value"),
        ("region 1\n  schedule { loop i = {S2: i} { S1 } }\n", 2, 19, "no value for S1"),
        ("region one\n", 1, 8, "a number"),
    ],
)
def test_bad_plans_are_located(plan: str, line: int, col: int, words: str, gen) -> None:
    code, out, messages = gen(REGION, *_plan(plan))
    assert (code, out) == (1, "")
    assert (messages[0]["id"], messages[0]["file"], messages[0]["line"]) == ("bad-plan", "p.plan", line)
    assert messages[0]["column"] == col
    assert words in messages[0]["message"]


def test_warnings(gen) -> None:
    code, out, messages = gen("int x;\n")
    assert code == 0 and out.endswith("int x;\n") and [m["id"] for m in messages] == ["no-region"]
    off = f"#if 0\n{REGION}#endif\n"
    code, out, messages = gen(off)
    assert code == 0 and out.endswith(unmarked(off))
    assert [(m["id"], m["line"]) for m in messages] == [("inactive-region", 4)]
    choice = "#if 0\n#endif\n# ifdef FAST /* or not */\n A[i] = 0.5 +\n#else\n A[i] =\n#endif\n"
    inside = REGION.replace("        A[i] =", choice)
    for words, has in ((("-DFAST",), True), ((), False)):
        code, out, messages = gen(inside, *words)
        assert code == 0 and ("0.5" in out) == has and out.count("#error") == 1
        assert [(m["id"], m["line"]) for m in messages] == [("conditional-region", 7)]
    assert gen(inside, "-Wno-conditional-region")[2] == []
    parallel = REGION.replace("#pragma scop", "#pragma omp parallel\n{\n#pragma scop")
    code, out, messages = gen(parallel.replace("#pragma endscop", "#pragma endscop\n}"))
    assert code == 0 and out.count("#pragma omp") == 1 and [m["id"] for m in messages] == ["inside-construct"]
    tested = {"no-region", "inactive-region", "region-refused", "conditional-region", "inside-construct"}
    tested |= {"data-scope"}  # tests/gpu/test_resident.py
    tested |= {"no-dispatch"}  # tests/run/test_dispatch.py
    tested |= {"region-partly"}  # tests/run/test_partial.py
    tested |= {"unproven"}  # below
    tested |= {"misspelt-pragma", "no-effect", "unknown-warning", "unused-assumption"}  # tests/cli/test_explain.py
    assert {e.id for e in TABLE if e.family == WARNING} == tested


# It is tiled, so there is a simpler plan.
TRANSPOSED = """void f(int n, double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = B[j][i];
#pragma endscop
}
"""


def test_a_fallback_is_remarked_on(gen, monkeypatch: pytest.MonkeyPatch) -> None:
    from codegen import region
    from codegen.verify.evidence import Finding

    proofs = [(Finding("storage", "`t` does not fit"),)] * 2  # the second for the same plan in one piece
    real = region.prove
    monkeypatch.setattr(region, "prove", lambda *a, **k: proofs.pop() if proofs else real(*a, **k))
    code, out, messages = gen(TRANSPOSED, "-Rpass-missed=fallback")
    assert code == 0 and "omp" in out
    assert [(m["id"], m["severity"], m["kind"]) for m in messages] == [("fallback", "remark", "missed")]
    assert "`t` does not fit" in messages[0]["message"]


PRODUCT = """void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize("machine", ["generic", "haswell"])
def test_an_unproven_text_is_a_warning(gen, monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """Whatever text for products could not be proven, without an option that asks for remarks, and in the report."""
    monkeypatch.setattr("codegen.verify.text.check.wrong_text", lambda x: "a row too many" if x.products else "")
    words = ("--machine", machine, "-o", "out.c", "--emit", "c,report")
    code, _, messages = gen(PRODUCT, *words)
    assert code == 0 and "tilewright: region 1" in Path("out.c").read_text(encoding="utf-8")
    assert {(m["id"], m["severity"], m["line"]) for m in messages} == {("unproven", "warning", 3)}
    assert all("a faster plan was given up" in m["message"] and "a row too many" in m["message"] for m in messages)
    assert "a faster plan was given up" in Path("out.report.txt").read_text(encoding="utf-8")
    assert gen(PRODUCT, *words, "-Wno-unproven")[2] == []
    assert gen(PRODUCT, *words, "-Werror=unproven")[0] == 1


def test_an_unproven_tree_is_a_warning(gen, monkeypatch: pytest.MonkeyPatch) -> None:
    from codegen import region
    from codegen.verify.evidence import Finding

    proofs = [(Finding("order", "S1 runs too late"),)]
    real = region.prove
    monkeypatch.setattr(region, "prove", lambda *a, **k: proofs.pop() if proofs else real(*a, **k))
    code, out, messages = gen(TRANSPOSED)
    assert code == 0 and "omp" in out
    assert [(m["id"], m["severity"]) for m in messages] == [("unproven", "warning")]
    assert "could not be proven: S1 runs too late" in messages[0]["message"]


def test_a_crash_of_isl_leads_to_a_simpler_plan(gen, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it did when pieces of a blocked nest's dependences were joined (random program 700638)."""
    from codegen import region

    real = region.default_plan
    monkeypatch.setattr(region, "default_plan", lambda *a: os._exit(9) if a[3] == 2 else real(*a))
    code, out, messages = gen(REGION, "-Rpass-missed=fallback")
    assert code == 0 and "tilewright: region 1" in out
    assert [(m["id"], m["severity"]) for m in messages] == [("fallback", "remark")]
    assert "isl crashed" in messages[0]["message"]


def test_internal_errors_keep_their_evidence(gen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.region.process_region", lambda *a: os._exit(9))
    code, out, messages = gen(REGION, "-o", "out.c")
    assert (code, out) == (0, "") and "A[i] = A[i - 1] + 1.0;" in Path("out.c").read_text(encoding="utf-8")
    (note,) = messages[0]["notes"]
    assert (messages[0]["id"], note["id"], note["line"]) == ("region-refused", "worker-died", 3)
    (saved,) = Path("tmp").iterdir()
    assert str(saved) in note["hint"]
    assert (saved / "input.c").read_text(encoding="utf-8") == REGION
    assert {e.id for e in TABLE if e.family == INTERNAL} == {"internal-error", "worker-died"}
