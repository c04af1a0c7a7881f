"""Arrays that stay with their cores from kernel to kernel: who may, what it saves, and what happens if it is wrong."""

import re

import pytest

from codegen.cli.main import main
from codegen.options import GenOptions
from codegen.pipeline import generate
from codegen.sunway.emulation.host import compile_program, run_program
from codegen.sunway.emulation.predict import model_program, predict
from codegen.sunway.resident import Owned, residents

# x is read by all cores; v and the forces a belong to one of them.
BODIES = """void f(int T, int n, double x[n], double v[n], double a[n]) {
#pragma scop
for (int t = 0; t < T; t++) {
  for (int i = 0; i < n; i++) {
    a[i] = 0;
    for (int j = 0; j < n; j++) a[i] += (x[j] - x[i]) * 0.001;
  }
  for (int i = 0; i < n; i++) {
    v[i] += a[i];
    x[i] += v[i] * 0.5;
  }
}
#pragma endscop
}"""
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
void f(int T, int n, double *x, double *v, double *a);
int main(int argc, char **argv) {
  int T = atoi(argv[1]), n = atoi(argv[2]);
  double *x = malloc(24 * n + 1), *v = x + n, *a = v + n;
  for (int i = 0; i < 3 * n; i++) x[i] = (i * 37 %% 101) / 7.0;
  f(T, n, T ? x : 0, T ? v : 0, T ? a : 0);
  double s = 0;
  for (int i = 0; i < 3 * n; i++) s += x[i] * (i %% 13 + 1);
  printf("%%.17g\\n", s);
  return argc < 0;
}""".replace("%%", "%")

FLAGS = ["-Wall", "-Wextra", "-Wno-unknown-pragmas", "-DTW_NO_FMA"]


def made_of(source, **options):
    chosen = {"scheme": "launch", **options}
    return generate("f.c", source, GenOptions(target="sunway", stem="f", timeout=60, **chosen))


def stays(made):
    return re.findall(r"stay (\w+) from \w+ by (\d+)", made.regions[0].plan)


def built(made, folder, library):
    texts = {"f_master.c": made.text, **{f"f{ending}": text for ending, text in made.extra.files}, "main.c": DRIVER}
    for name, text in {**texts, "f.c": BODIES}.items():
        (folder / name).write_text(text)
    files = [folder / n for n in ("f_master.c", "f_slave.c", "main.c")]
    assert compile_program(files, folder / "new", library, FLAGS) == ""
    return folder / "new"


@pytest.mark.parametrize("threads", ["8,8", "16"])
def test_owned_arrays_stay(tmp_path, library, threads):
    """Results are the original's, at no step at all, at few and at more tiles than stay."""
    made = made_of(BODIES, threads=threads)
    assert {a for a, _ in stays(made)} == {"v", "a"}
    program = built(made, tmp_path, library)
    assert compile_program([tmp_path / "f.c", tmp_path / "main.c"], tmp_path / "old", library, FLAGS) == ""
    for words in (["0", "5"], ["1", "1"], ["3", "100"], ["4", "1500"], ["2", "9000"]):
        new, old = run_program(program, words), run_program(tmp_path / "old", words)
        assert (new.code, new.out) == (0, old.out), (words, new.err)


def test_what_stays_is_not_moved(tmp_path, library):
    """On the timing model: fewer bytes, and no more time."""
    source = tmp_path / "f.c"
    source.write_text(BODIES)
    plan = made_of(BODIES).regions[0].plan
    without = "\n".join(x for x in plan.splitlines() if "stay" not in x)
    sizes, bytes_ = {"T": 10, "n": 2000}, []
    for text in (plan, without):
        program = model_program(str(source), GenOptions(plan_text=text), tmp_path, library, f"_{len(bytes_)}")
        found = predict(program, sizes)
        bytes_.append((found.counts["get_bytes"] + found.counts["put_bytes"], found.cycles))
    assert bytes_[0][0] < bytes_[1][0] and bytes_[0][1] <= bytes_[1][1]


def test_remarks_and_inspection(tmp_path, capsys):
    texts = [d.message for d in made_of(BODIES).diagnostics if d.id == "ownership"]
    assert any("`v` belongs to one core" in t and "stay on every core" in t for t in texts)
    assert any("`x` passes through main memory between kernels" in t for t in texts)
    source = tmp_path / "f.c"
    source.write_text(BODIES)
    assert main(["inspect", "--target", "sunway", str(source)]) == 0
    out = capsys.readouterr().out
    assert "stays on its cores: v" in out and "between kernels" in out


def test_plans_say_what_stays(capsys):
    """A plan is obeyed; one that asks for what is not owned, or for too much, is refused."""
    plan = made_of(BODIES).regions[0].plan
    fewer = re.sub(r"stay v (from \w+) by \d+", r"stay v \1 by 3", plan)
    made = made_of(BODIES, plan_text=fewer)
    assert dict(stays(made))["v"] == "3" and "v_kept[3]" in made.extra.file("_slave.c")
    from codegen.diagnostics import InputError

    with pytest.raises(InputError, match="cannot stay"):
        made_of(BODIES, plan_text=plan + "  stay x from S2 by 3\n")
    much = made_of(BODIES, plan_text=re.sub(r"stay v (from \w+) by \d+", r"stay v \1 by 9000", plan))
    assert [n.id for d in much.diagnostics for n in d.notes] == ["sunway-ldm"]


def test_emulator_catches_what_must_not_stay(tmp_path, library, monkeypatch):
    """An analysis that lets x stay as well, though other cores read what one of them keeps. The proof refuses
    that text; without it, the emulator does."""

    def wrong(scop, grid, owned, *rest):
        return residents(scop, grid, [*owned, Owned("x", owned[-1].sites, "a fault")], *rest)

    monkeypatch.setattr("codegen.sunway.launch.residents", wrong)
    monkeypatch.setattr("codegen.sunway.resident._unfit", lambda *_: "")
    monkeypatch.setattr("codegen.sunway.survey.KernelSite.tile", _any_tile)
    (refused,) = [n for d in made_of(BODIES).diagnostics for n in d.notes]
    assert refused.id == "no-proof" and "stays with cores" in refused.message
    monkeypatch.setattr("codegen.sunway.read_back.wrong_entry", lambda *_: "")
    ran = run_program(built(made_of(BODIES), tmp_path, library), ["2", "300"])
    assert ran.code == 3 and "[kept]" in ran.err


def _any_tile(site, array):
    stage = site.bound[-1].body
    return next((b for b in stage.buffers if b.array == array and b.put), None)
