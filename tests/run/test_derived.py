"""Pointers that the function itself sets from another array: exact where the offset is known, else tested."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from codegen.checking.compare import check
from codegen.checking.regions import open_regions
from codegen.options import GenOptions
from codegen.pipeline import generate
from tests.run.test_microkernel import compiler

HEAD = "struct view { double *p; double *q; };\nstatic double whole[400];\n"
# Each is the body of `void NAME(int n, int k, double *a, double *b)`; {{...}} is the body of its region.
FOLDED = {
    "ahead": "double *next = a + 1; {{next[i] = a[i] * 0.5 + 1}}",
    "behind": "double *last = a + n; {{last[-i] = a[i] + 1}}",
    "equal": "double *p = a; {{p[i + 1] = a[i] * 0.5 + 1}}",
    "element": "double *p = &a[k]; {{p[i] = a[i] + 1}}",
    "chain": "double *p = a + 2; double *q; q = p - 1; q += k; {{q[i] = p[i] + a[i]}}",
    "stepped": "double *p = a; p++; {{p[i] = a[i] + 1}}",
    "same_type": "double *p = (double *)(a + k); {{p[i] = a[i] + 1}}",
    "siblings": "double *lo = a, *hi = a + 3; {{hi[i] = lo[i] + 1}}",
    "own": "double t[200]; for (int i = 0; i < 200; i++) t[i] = a[i]; double *p = t + 1; {{p[i] = t[i] + 1}}"
    " for (int i = 0; i < 200; i++) a[i] = t[i];",
    "shared": "for (int i = 0; i < 200; i++) whole[i] = a[i]; double *p = whole + k; {{p[i] = whole[i] + 1}}"
    " for (int i = 0; i < 200; i++) a[i] = whole[i];",
    "each_time": "for (int t = 0; t < 3; t++) { double *p = a + t; {{p[i + 1] = a[i] + 1}} }",
    "later": "double *p = b; p = a + 1; {{p[i] = a[i] + 1}}",
    "planes": "double (*A)[8] = (double (*)[8])a; double (*B)[8] = A + 1;"
    " {{for (int j = 0; j < 8; j++) B[i / 8][j] = A[i / 8][j] + 1}}",
    "star": "double *s = a + 5; {{*s += a[i]}}",
    "squares": "double *p = a + 8 * k; {{p[i] = a[i] + 1}}",
}
TESTED = {
    "branch": "double *p = b; if (k > 1) p = a + 1; {{p[i] = a[i] + 1}}",
    "either": "double *p = k > 1 ? a + 1 : b; {{p[i] = a[i] + 1}}",
    "carried": "double *p = a; for (int t = 0; t < 3; t++) { {{p[i + 1] = a[i] + 1}} p = p + 1; }",
    "member": "struct view s; s.p = a + 1; s.q = a; {{s.p[i] = a[i] + s.q[i]}}",
    "given": "struct view s = { a + 1, a }; struct view *t = &s; {{t->p[i] = t->q[i] + 1}}",
    "number": "unsigned long x = (unsigned long)a; x += 8; double *p = (double *)x; {{p[i] = a[i] + 1}}",
    "bytes": "double *p = (double *)((char *)a + 8); {{p[i] = a[i] + 1}}",
    "row": "double (*A)[8] = (double (*)[8])a; double *p = A[1]; {{p[i] = a[i + 7] + 1}}",
    "moved_on": "double *p = a + k; k = 0; {{p[i] = a[i] + a[k]}}",
    "counter": "int i = 3; double *p = a + i; {{i = 0 | p[i] = a[i] + 1}}",
    "loop_name": "int i = 3; double *p = a + i; {{p[i] = a[i] + 1}}",
    "renamed": "double *p = a + 1; a = b; {{p[i] = a[i] + 1}}",
    "address": "double *p = a; double **pp = &p; *pp = a + 1; {{p[i] = a[i] + 1}}",
    "jumped": "double *p = a + 1; if (k) goto out; p = b; out: ; {{p[i] = a[i] + 1}}",
    "total": "double s = 0; double *p = k ? &s : b; {{s += p[0] + a[i]}} a[0] = s;",
}


def source() -> str:
    """A function for each."""
    out = HEAD
    for name, body in {**FOLDED, **TESTED}.items():
        for mark in re.findall(r"\{\{.*?\}\}", body):
            start, bar, loop = mark[2:-2].rpartition(" | ")
            nest = f"for ({start if bar else 'int i = 0'}; i < n; i++)\n    {loop};"
            body = body.replace(mark, f"\n#pragma scop\n  {nest}\n#pragma endscop\n ")
        out += f"void {name}(int n, int k, double *a, double *b)\n{{\n  (void)k; (void)b; (void)whole;\n  {body}\n}}\n"
    return out


def driver() -> str:
    tries = "\n".join(f"    TRY({name});" for name in {**FOLDED, **TESTED})
    names = [f"{p}_{n}" for p in ("old", "new") for n in {**FOLDED, **TESTED}]
    heads = "".join(f"void {name}(int, int, double *, double *);\n" for name in names)
    return (
        "#include <stdio.h>\n#include <string.h>\n" + heads + "#define TRY(NAME) do { \\\n"
        "  for (int i = 0; i < 400; i++) x[0][i] = x[1][i] = i * i % 37 * 0.25; \\\n"
        "  old_##NAME(n, k, x[0] + 100, x[0]); new_##NAME(n, k, x[1] + 100, x[1]); \\\n"
        '  if (memcmp(x[0], x[1], sizeof x[0])) printf(#NAME " differs at %d %d\\n", n, k); } while (0)\n'
        "static double x[2][400];\nint main(void)\n{\n"
        "  for (int n = 0; n <= 64; n += 16) for (int k = 0; k < 5; k++) {\n"
        + tries + "\n  }\n  return 0;\n}\n"
    )  # fmt: skip


def test_derived_pointers(tmp_path: Path) -> None:
    made = generate("new.c", source(), GenOptions(target="c", assume_no_alias=True))
    assert all(r.transformed for r in made.regions), [(r.line, r.summary) for r in made.regions]
    texts = dict(zip((*FOLDED, *TESTED), made.text.split("\nvoid ")[1:], strict=True))
    assert {n for n, t in texts.items() if "tw_apart(" in t} == set(TESTED)
    words = re.compile(r"^void (\w+)\(", re.M)
    (tmp_path / "new.c").write_text(words.sub(r"void new_\1(", made.text))
    (tmp_path / "old.c").write_text(words.sub(r"void old_\1(", source()))
    (tmp_path / "driver.c").write_text(driver())
    files = [str(tmp_path / f) for f in ("old.c", "new.c", "driver.c")]
    warnings = ("-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-misleading-indentation")
    flags = ("-O1", *warnings, "-fno-strict-aliasing", "-fsanitize=address")
    done = subprocess.run(
        [compiler(""), *flags, *files, "-o", str(tmp_path / "run")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    run = subprocess.run([str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_check_knows_them(tmp_path: Path) -> None:
    """`check` gives such a pointer its place in the other array; a result that takes it for memory of its own fails."""
    path = tmp_path / "ahead.c"
    head = "void f(int n, int k, double *a)\n{\n  double *p = a + k;\n#pragma scop\n  for (int i = 0; i < n; i++)\n"
    path.write_text(head + "    p[i] = a[i] + 1;\n#pragma endscop\n}\n")
    report = check(str(path), path.read_text(), GenOptions(target="c"), lambda _: None)
    assert report.ok, report.lines
    site = open_regions(str(path), path.read_text(), GenOptions(target="c")).cases[0].harness.site
    assert [(d.name, d.root, d.element) for d in site.derived] == [("p", "a", "a[(long) k]")]
