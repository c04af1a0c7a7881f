"""Volatile and atomic objects in regions: wherever one is accessed the text stays, with a refusal at the access."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.cli.main import main
from tests.unmarked import unmarked

FILE = """
typedef volatile int vint;
typedef _Atomic double adouble;
struct dev { volatile int status; double *p; int plain; int n; };
struct wrap { struct dev d; double x; };
volatile int progress;
_Atomic int at;
vint vn = 10;
adouble ad;
volatile double regs[64];
struct dev D;
struct wrap W[8];
volatile struct { int a; double b; } vs;
const volatile int three = 3;
static double rd(int i) { return regs[i]; }
static double two(int i) { return rd(i) + 1; }
static int tmp(int i) { vint t = i; return t; }
static int par(volatile int i) { return i + 1; }
static int outer(int i) { return par(i) * 2; }
"""
# Name: what stands before the region, and the region.
REFUSED = {
    "counter": ("", "for (progress = 0; progress < n; progress++) a[progress] += 1;"),
    "counter_at": ("", "for (at = 0; at < n; at++) a[at] += 1;"),
    "counter_vint": ("", "for (vn = 0; vn < n; ++vn) a[3] += 1;"),
    "counter_decl": ("", "for (volatile int i = 0; i < n; i++) a[i] += 1;"),
    "counter_decl2": ("", "for (vint i = 0; i < n; i++) a[i] += 1;"),
    "counter_at2": ("", "for (_Atomic int i = 0; i < n; i++) a[i] += 1;"),
    "counter_at3": ("", "for (_Atomic(int) i = 0; i < n; i++) a[i] += 1;"),
    "counter_local": ("volatile int i;", "for (i = 0; i < n; i++) a[i] += 1;"),
    "counter_while": ("volatile int i = 0;", "while (i < n) { a[i] += 1; i++; }"),
    "counter_two": ("volatile int j;", "for (int i = 0; i < n; i++) for (j = 0; j < n; j++) a[i] += 1;"),
    "bound": ("", "for (int i = 0; i < vn; i++) a[i] += 1;"),
    "bound2": ("volatile int m = n;", "for (int i = 0; i < m; i++) a[i] += 1;"),
    "bound3": ("", "for (int i = progress; i < n; i++) a[i] += 1;"),
    "step": ("", "for (int i = 0; i < n; i += three) a[i] += 1;"),
    "constbound": ("", "for (int i = 0; i < three; i++) a[i] += 1;"),
    "scalar": ("", "for (int i = 0; i < n; i++) { a[i] += 1; progress = i; }"),
    "scalar_read": ("", "for (int i = 0; i < n; i++) a[i] += ad;"),
    "array": ("", "for (int i = 0; i < n; i++) regs[i] = a[i];"),
    "arrayread": ("", "for (int i = 0; i < n; i++) a[i] = regs[i];"),
    "member": ("", "for (int i = 0; i < n; i++) D.status = i;"),
    "member2": ("struct dev *s = &D;", "for (int i = 0; i < n; i++) a[i] += s->status;"),
    "memberbound": ("struct dev *s = &D;", "for (int i = 0; i < s->status; i++) a[i] += 1;"),
    "membercounter": ("struct dev *s = &D;", "for (s->status = 0; s->status < n; s->status++) a[s->status] += 1;"),
    "wholestruct": ("struct dev e = D;", "for (int i = 0; i < n; i++) { D = e; a[i] += 1; }"),
    "wholestruct2": ("struct wrap e;", "for (int i = 0; i < n; i++) { W[i % 8] = e; a[i] += 1; }"),
    "structvol": ("", "for (int i = 0; i < n; i++) a[i] += vs.b;"),
    "ptr": ("volatile double *p = regs;", "for (int i = 0; i < n; i++) p[i] = a[i];"),
    "ptrptr": ("volatile double *p = regs, **q = &p;", "for (int i = 0; i < n; i++) (*q)[i] = a[i];"),
    "volptr": ("double *volatile p = a;", "for (int i = 0; i < n; i++) p[i] += 1;"),
    "cast": ("int x = 0;", "for (int i = 0; i < n; i++) *(volatile int *)&x = i;"),
    "cast2": ("", "for (int i = 0; i < n; i++) ((volatile double *)a)[i] = i;"),
    "init": ("", "for (int i = 0; i < n; i++) { double t = ad; a[i] += t; }"),
    "initarr": ("", "for (int i = 0; i < n; i++) { double t[2] = {progress, 2}; a[i] += t[0]; }"),
    "local": ("", "for (int i = 0; i < n; i++) { vint t = i; a[i] += t; }"),
    "cond": ("", "for (int i = 0; i < n; i++) if (progress) a[i] += 1;"),
    "tern": ("", "for (int i = 0; i < n; i++) a[i] += progress > 3 ? 1 : 2;"),
    "while": ("", "for (int i = 0; i < n; i++) while (progress < 0) a[i] += 1;"),
    "subs": ("", "for (int i = 0; i < n; i++) a[progress] += i;"),
    "voidexpr": ("", "for (int i = 0; i < n; i++) { (void)progress; a[i] += 1; }"),
    "stmt": ("", "for (int i = 0; i < n; i++) { progress; a[i] += 1; }"),
    "call1": ("", "for (int i = 0; i < n; i++) a[i] += rd(i);"),
    "call2": ("", "for (int i = 0; i < n; i++) a[i] += two(i);"),
    "call3": ("", "for (int i = 0; i < n; i++) a[i] += tmp(i);"),
    "call4": ("", "for (int i = 0; i < n; i++) a[i] += par(i);"),
    "call5": ("", "for (int i = 0; i < n; i++) a[i] += outer(i);"),
    "vla": ("volatile int m = 5; double b[n][m];", "for (int i = 0; i < n; i++) b[i][3] = a[i];"),
    "vlaptr": ("volatile int m = 5; double (*b)[m] = (double (*)[m])a;", "for (int i = 0; i < n; i++) b[i][2] += 1;"),
    "switch": ("", "for (int i = 0; i < n; i++) switch (progress) { case 1: a[i] += 1; break; default: a[i] += 2; }"),
    "comma": ("", "for (int i = 0, k = progress; i < n; i++) a[i] += 1;"),
    "dead": ("", "for (int i = 0; i < n; i++) { int t = progress; a[i] += 1; }"),
    "dead2": ("", "for (int i = 0; i < 0; i++) { progress = 1; }"),
    "incr": ("", "for (int i = 0; i < n; i++) a[i] += progress++;"),
    "deref": ("vint *p = &vn;", "for (int i = 0; i < n; i++) a[i] += *p;"),
}
TAKEN = {
    "plainmember": ("struct dev *s = &D;", "for (int i = 0; i < n; i++) s->p[i] = i;"),
    "plainmember2": ("", "for (int i = 0; i < n; i++) a[i] = i * D.n;"),
    "wm": ("", "for (int i = 0; i < 8; i++) W[i].d.plain = i;"),
    "sizeof": ("", "for (int i = 0; i < n; i++) a[i] = i * sizeof(progress);"),
}


def _source(before: str, region: str) -> str:
    body = f"    {before}\n#pragma scop\n    {region}\n#pragma endscop\n"
    return f"{FILE}void f(int n, double *a)\n{{\n{body}}}\n"


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_region_stays(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, path = _source(*REFUSED[name]), tmp_path / "v.c"
    path.write_text(source)
    assert main(["gen", "--diagnostics-format", "json", str(path)]) == 0
    out, err = capsys.readouterr()
    (message,) = json.loads(err)
    assert {note["id"] for note in message["notes"]} == {"volatile"}
    assert out.endswith(unmarked(source))


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_other_members_are_taken(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.c"
    path.write_text(_source(*TAKEN[name]))
    assert main(["gen", "--strict", "--machine", "generic", str(path)]) == 0
    assert "[volatile]" not in capsys.readouterr().err


def test_other_nests_of_the_region_are_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.c"
    nests = "for (int i = 0; i < n; i++) a[i] += 1;\n    for (int i = 0; i < n; i++) progress = i;"
    path.write_text(_source("", nests))
    assert main(["gen", "--diagnostics-format", "json", "--machine", "generic", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "volatile" in err and "for (int i = 0; i < n; i++) progress = i;" in out
    assert "for (tw_index i = 0" in out


def test_pure_by_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever says that a function computes a value from its arguments alone is believed."""
    path = tmp_path / "v.c"
    text = _source("", "for (int i = 0; i < n; i++) a[i] += rd(i);")
    path.write_text(text.replace("#pragma scop\n", "#pragma scop\n#pragma tilewright pure(rd)\n"))
    assert main(["gen", "--strict", "--machine", "generic", str(path)]) == 0
