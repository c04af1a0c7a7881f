"""Whatever the input is: a located error or a refusal in good time, never an internal error, never half a file."""

from __future__ import annotations

import os
import random
import re
import resource
from pathlib import Path

import pytest

from tests.cli.fakes import Run
from tests.unmarked import unmarked

SMALL = """\
#include <math.h>

/* Adds up. */
void f(int n, double A[n][n], double *s)
{
    int k = 0; char c = '"'; const char *t = "/* no comment */";
#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0.0; // of a row
        for (int j = 0; j < n; j++)
            sum += fabs(A[i][j]);
        s[i] = sum;
    }
#pragma endscop
    k++; (void)c; (void)t;
}
"""
LOOP = "    for (int i = 0; i < n; i++)\n        A[i] = 0.0;\n"
SITUATED = re.compile(r"^[^\s:][^:\n]*(?::\d+)*: (?:error|warning|note|remark): .* \[[\w-]+\]$", re.M)


def processor_seconds() -> float:
    """Of this process and the children it has waited for: what a run takes, whatever else the machine does."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def wrapped(body: str, params: str = "int n, double A[n]") -> str:
    return f"void f({params})\n{{\n#pragma scop\n{body}#pragma endscop\n}}\n"


def gen(run: Run, data: bytes | str, *words: str) -> tuple[int, str, str]:
    """Run on in.c into out.c: done and complete, or said why and nothing written."""
    raw = data if isinstance(data, bytes) else data.encode()
    Path("in.c").write_bytes(raw)
    code, out, err = run("gen", "in.c", "-o", "out.c", "--force", *words)
    assert out == ""
    assert "Traceback" not in err
    assert code in (0, 1), err
    left = {p.name for p in Path().iterdir()} - {"in.c", "out.c", "tmp"}
    assert not left, "no temporary file stays behind"
    if code:
        assert not Path("out.c").exists()
        assert SITUATED.search(err), err
        return code, "", err
    text = Path("out.c").read_bytes()
    os.unlink("out.c")
    if "region-refused" in err or "no-region" in err or "inactive-region" in err:
        assert SITUATED.search(err), err
    return code, text.decode("utf-8", "surrogateescape"), err


def kept(out: str, source: str) -> bool:
    """Did the file come out as it went in, apart from the banner and pragmas?"""
    source = unmarked(source.removeprefix("\ufeff"))
    return out.endswith(source) and out[: len(out) - len(source)].count("*/") <= 1


CUTS = sorted({round(k * len(SMALL) / 40) for k in range(41)})


@pytest.mark.parametrize("cut", CUTS)
def test_every_prefix_of_a_file(cut: int, folder: Path, run: Run) -> None:
    text = SMALL[:cut]
    code, out, err = gen(run, text)
    if "#pragma scop" not in text:
        assert code == 0 and kept(out, text)
    elif "#pragma endscop" not in text:
        assert code == 1 and "[unbalanced-scop]" in err and "in.c:7:1" in err
    elif text.rstrip().endswith("}"):
        assert code == 0 and "region-refused" not in err
    else:
        assert code == 0 and kept(out, text) and "[region-refused]" in err


@pytest.mark.parametrize(
    "text, line",
    [
        ("#pragma scop\n", 1),
        ("\n#pragma endscop\n", 2),
        ("#pragma scop\n#pragma scop\n#pragma endscop\n#pragma endscop\n", 2),
        ("#pragma scop\n#pragma endscop\n#pragma endscop\n", 3),
        (SMALL.replace("#pragma endscop", "/* #pragma endscop */"), 7),
        (SMALL.replace("#pragma scop", "// #pragma scop"), 14),
        (SMALL.replace("#pragma endscop", "#pragma end scop"), 14),
    ],
)
def test_unbalanced_pragmas(text: str, line: int, folder: Path, run: Run) -> None:
    code, _, err = gen(run, text)
    assert code == 1 and f"in.c:{line}:1: error:" in err and "[unbalanced-scop]" in err


def test_a_file_of_ten_thousand_lines(folder: Path, run: Run) -> None:
    filler = "".join(f"static inline int helper_{k}(int x) {{ return x + {k}; }}\n" for k in range(10_000))
    start = processor_seconds()
    code, out, err = gen(run, filler + wrapped(LOOP), "--timeout", "20")
    assert code == 0 and "region-refused" not in err
    assert filler in out
    assert processor_seconds() - start < 30


def test_twelve_loops_deep(folder: Path, run: Run) -> None:
    head = "".join(f"for (int i{k} = 0; i{k} < n; i{k}++)\n" for k in range(12))
    text = wrapped(f"{head}A[i0] += i11;\n")
    start = processor_seconds()
    code, out, err = gen(run, text, "--timeout", "10")
    assert code == 0 and processor_seconds() - start < 20
    assert kept(out, text) or "for (tw_index i0" in out
    assert "[timeout]" in err or "region-refused" not in err


@pytest.mark.parametrize(
    "body",
    [
        "".join(
            f"for (int i = 1; i < n - 1; i++)\nA[{k}][i] = A[{k}][i - 1] + A[{k + 1}][i + 1];\n" for k in range(100)
        ),
        "for (int i = 1; i < n; i++) {\n"
        + "".join(f"A[{k + 1}][i] = A[{k}][i - 1] * 0.5;\n" for k in range(100))
        + "}\n",
    ],
    ids=["loops", "one-loop"],
)
def test_a_hundred_statements_end_in_time(body: str, folder: Path, run: Run) -> None:
    text = wrapped(body, "int n, double A[102][n]")
    start = processor_seconds()
    code, out, err = gen(run, text, "--timeout", "8")
    assert code == 0 and processor_seconds() - start < 16
    assert ("[timeout]" in err and kept(out, text)) or "region-refused" not in err


@pytest.mark.parametrize(
    "text",
    [
        wrapped("A[0] = " + "(" * 1000 + "1.0" + ")" * 1000 + ";\n"),
        wrapped("A[" + "(" * 1000 + "n" + ")" * 1000 + "] = 0.0;\n"),
        wrapped("{" * 500 + LOOP + "}" * 500 + "\n"),
        wrapped(LOOP) + "void g(void) " + "{" * 500 + "}" * 500 + "\n",
        "void g(void) " + "{" * 500 + "}" * 500 + "\n" + wrapped(LOOP),
        wrapped("A[0] = " + "-" * 1000 + "1.0;\n"),
        wrapped("A[0] = " + "- " * 1000 + "1.0;\n"),
        wrapped("A[0] = " + " + ".join(["A[1]"] * 1000) + ";\n"),
        wrapped("A[0] = " + "n ? 1.0 : " * 500 + "2.0;\n"),
        wrapped("if (n > 0) " * 500 + "A[0] = 1.0;\n"),
        wrapped("".join(f"if (n == {k}) A[0] = {k}.0; else " for k in range(300)) + "A[0] = 1.0;\n"),
        wrapped("A" + "[0" * 800 + "]" * 800 + " = 0.0;\n"),
        wrapped("A[" + "n + " * 1500 + "0] = 0.0;\n"),
    ],
    ids=[
        "parens",
        "subscript-parens",
        "blocks",
        "blocks-after",
        "blocks-before",
        "decrements",
        "negations",
        "sum",
        "choices",
        "ifs",
        "else-ifs",
        "subscripts",
        "long-subscript",
    ],
)
def test_hostile_nesting(text: str, folder: Path, run: Run) -> None:
    start = processor_seconds()
    code, out, err = gen(run, text, "--timeout", "10")
    assert processor_seconds() - start < 20
    assert code == 0
    assert kept(out, text) or "region-refused" not in err


def test_paths_that_cannot_be_read(folder: Path, run: Run) -> None:
    os.mkdir("folder.c")
    Path("loop.c").symlink_to("loop.c")
    for name in ("missing.c", "folder.c", "loop.c", "in.c/x.c", "a\0b.c", "x" * 5000 + ".c"):
        code, out, err = run("gen", name)
        assert (code, out) == (1, "") and "[cannot-read]" in err
    if os.geteuid() != 0:
        os.chmod("in.c", 0)
        assert run("gen", "in.c")[0] == 1


def test_what_may_have_been_meant(folder: Path, run: Run) -> None:
    Path("in.c").write_text(wrapped(LOOP), encoding="utf-8")
    os.mkdir("folder")
    for words, says in (
        (["inn.c"], "note: did you mean in.c?"), (["folder"], "note: it is a folder"),
        (["nowhere/in.c"], "note: there is no folder nowhere"), (["zzz"], "note: check its name"),
        (["in.c", "--plan", "on.c"], "did you mean in.c?"), (["in.c", "-o", "nowhere/x.c"], "make the folder nowhere"),
        (["in.c", "-o", "folder"], "for files in it say folder/"),
    ):  # fmt: skip
        code, out, err = run("gen", *words)
        assert (code, out) == (1, "") and says in err, err


def test_paths_that_cannot_be_written(folder: Path, run: Run) -> None:
    Path("in.c").write_text(wrapped(LOOP), encoding="utf-8")
    os.mkdir("folder")
    for name in ("folder", "missing/out.c", "in.c/out.c", "x" * 5000 + ".c", "/proc/out.c"):
        code, out, err = run("gen", "in.c", "-o", name)
        assert code == 1 and out == "" and "[cannot-write]" in err, name
    assert sorted(os.listdir()) == ["folder", "in.c", "tmp"]


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)),
        b"\x7fELF\x02\x01\x01" + bytes(64),
        b"\xff\xfe#\0p\0",
        b"\x00",
        random.Random(7).randbytes(4096),
    ],
    ids=["all-bytes", "elf", "utf-16", "nul", "random"],
)
def test_binary_garbage(data: bytes, folder: Path, run: Run) -> None:
    Path("in.c").write_bytes(data)
    code, out, err = run("gen", "in.c", "-o", "out.c")
    assert code in (0, 1) and out == ""
    assert code == 0 or "[cannot-read]" in err


def test_garbage_around_a_region(folder: Path, run: Run) -> None:
    noise = bytes(b for b in range(1, 256) if b not in b"\n\r\"'\\/#")
    data = b"/* " + noise + b" */\n" + wrapped(LOOP).encode() + b"// " + noise + b"\n"
    code, out, err = gen(run, data)
    assert code == 0 and "region-refused" not in err
    assert noise in out.encode("utf-8", "surrogateescape")
    code, out, err = gen(run, b"@ $ ` " + noise + b"\n" + wrapped(LOOP).encode())
    assert code in (0, 1)


def test_crlf(folder: Path, run: Run) -> None:
    code, out, err = gen(run, SMALL.replace("\n", "\r\n"))
    assert code == 0 and "region-refused" not in err
    assert "#pragma omp" in out and not re.search(r"(?<!\r)\n", out)
    _, plain, _ = gen(run, SMALL)
    assert out.replace("\r\n", "\n") == plain


def test_tabs_and_form_feeds(folder: Path, run: Run) -> None:
    text = wrapped(LOOP).replace("    ", "\t").replace("#pragma", "\t#\tpragma\t") + "\f\v\n"
    code, out, err = gen(run, text)
    assert code == 0 and "region-refused" not in err and out.endswith("}\n\f\v\n")


def test_bytes_that_are_not_utf8_survive(folder: Path, run: Run) -> None:
    data = b'/* caf\xe9 */ const char *s = "\xff\xfe";\n' + wrapped(LOOP).encode() + b"// \x80"
    code, out, err = gen(run, data)
    raw = out.encode("utf-8", "surrogateescape")
    assert code == 0 and b'caf\xe9 */ const char *s = "\xff\xfe";\n' in raw and raw.endswith(b"// \x80")
    assert "region-refused" not in err


def test_non_utf8_inside_a_region(folder: Path, run: Run) -> None:
    code, _, err = gen(run, wrapped("    /* \xe9 */\n" + LOOP).encode("latin-1"))
    assert code == 0 and "region-refused" not in err


def test_no_final_newline(folder: Path, run: Run) -> None:
    code, out, _ = gen(run, wrapped(LOOP).rstrip("\n"))
    assert code == 0 and out.endswith("}")
    code, out, err = gen(run, "void f(int n, double A[n]) {\n#pragma scop\nA[0] = 1.0;\n#pragma endscop")
    assert code == 0 and "[region-refused]" in err


@pytest.mark.parametrize("text", ["", "\n", " ", "\ufeff", "/*", "//", "\\", "#", "'", '"', "#pragma"])
def test_next_to_nothing(text: str, folder: Path, run: Run) -> None:
    code, out, err = gen(run, text)
    assert code == 0 and kept(out, text) and "[no-region]" in err


def test_an_empty_region(folder: Path, run: Run) -> None:
    for body in ("", "    ;\n", "    /* nothing */\n", "    {}\n", "    for (int i = 0; i < n; i++)\n        ;\n"):
        code, out, _ = gen(run, wrapped(body))
        assert code == 0 and kept(out, wrapped(body))


def test_regions_and_macros(folder: Path, run: Run) -> None:
    code, out, err = gen(run, "#define ALL for (int i = 0; i < n; i++) A[i] = 0.0;\n" + wrapped("    ALL\n"))
    assert code == 0 and "for (tw_index i" in out and out.count("#define ALL") == 1
    text = '#define SCOP _Pragma("scop")\n' + wrapped(LOOP).replace("#pragma scop", "SCOP")
    code, out, err = gen(run, text)
    assert code == 1 and "[unbalanced-scop]" in err
    text = '#define F(n) void n(int n_, double *A) { \\\n_Pragma("scop") A[0] = 0; _Pragma("endscop") }\nF(g)\n'
    code, out, err = gen(run, text)
    assert code == 0 and kept(out, text)


def test_two_regions_in_one_function(folder: Path, run: Run) -> None:
    text = wrapped(f"{LOOP}#pragma endscop\n    A[0]++;\n#pragma scop\n{LOOP}")
    code, out, err = gen(run, text)
    assert code == 0 and "region-refused" not in err
    assert out.count("for (tw_index i") == 4 and out.index("A[0]++;") > out.index("for (tw_index i")  # threads or not
    assert "region 1 of f" in out and "region 2 of f" in out


def test_regions_that_are_switched_off(folder: Path, run: Run) -> None:
    text = f"#if 0\n{wrapped(LOOP)}#endif\n{wrapped(LOOP).replace('void f', 'void g')}"
    code, out, err = gen(run, text)
    assert code == 0 and "in.c:4" in err and "[inactive-region]" in err
    assert f"#if 0\n{unmarked(wrapped(LOOP))}#endif\n" in out and "region 2 of g" in out
    both = f"#ifdef FAST\n{wrapped(LOOP)}#else\n{wrapped(LOOP)}#endif\n"
    for words, gone in (((), 1), (("-DFAST",), 2)):
        code, out, err = gen(run, both, *words)
        assert code == 0 and "#pragma scop" not in out and f"region {3 - gone} of f" in out
