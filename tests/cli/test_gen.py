"""tilewright gen: where things go, what is shown, what the exit status is."""
from __future__ import annotations

import io
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostic, InputError, Loc, Severity
from codegen.options import CppOptions
from tests.cli.fakes import SOURCE, Fake, Region, Run, warning


def test_no_output_option_means_stdout(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c") == (0, fake.made.text, "")
    assert fake.calls[0][:2] == ("in.c", SOURCE)
    assert sorted(os.listdir(folder)) == ["in.c", "tmp"]


def test_output_file_keeps_its_timestamp(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c", "-o", "out.c") == (0, "", "")
    os.utime("out.c", (1, 1))
    assert run("gen", "in.c", "-oout.c") == (0, "", "")
    assert os.stat("out.c").st_mtime == 1


def test_stdin(fake: Fake, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.TextIOWrapper(io.BytesIO(b"int caf\xe9;\r\n"))
    monkeypatch.setattr("sys.stdin", data)
    assert run("gen", "-", "--input-name", "x.c", "-o", "-")[0] == 0
    assert fake.calls[0][:2] == ("x.c", "int caf\udce9;\r\n")


def test_options_reach_the_pipeline(fake: Fake, folder: Path, run: Run) -> None:
    Path("p.plan").write_text("tile 8\n", encoding="utf-8")
    code, _, _ = run(
        "gen", "--target", "c", "--machine=zen3", "--plan", "p.plan", "--reassociate", "--check-alias", "--context",
        "N >= 64", "-Iinc", "-DA=1", "-I", "b", "-U", "Q", "-include", "h.h", "--cpp", "gcc -E -m64", "--line",
        "--no-banner", "--timeout", "2.5", "in.c",
    )
    o = fake.options
    assert code == 0
    assert (o.target, o.machine, o.plan_text, o.plan_name) == ("c", "zen3", "tile 8\n", "p.plan")
    assert (o.reassociate, o.check_alias, o.context) == (True, True, "N >= 64")
    assert (o.line_directives, o.banner) == (True, False)
    assert o.timeout == 2.5
    assert o.cpp == CppOptions(("gcc", "-E", "-m64"), ("-Iinc", "-DA=1", "-Ib", "-UQ", "-include", "h.h"))
    assert run("gen", "in.c", "-std=gnu11", "-isystem", "sys", "-iquote", "q", "-std", "c99")[0] == 0
    assert fake.options.cpp.args == ("-std=gnu11", "-isystem", "sys", "-iquote", "q", "-std=c99")


def test_line_directives_and_names_of_files(fake: Fake, folder: Path, run: Run) -> None:
    for words, wanted in (((), (False, False)), (("--line",), (True, False)), (("--line=statements",), (True, True)),
                          (("--line", "--no-line"), (False, False))):  # fmt: skip
        assert run("gen", *words, "in.c")[0] == 0  # a bare --line takes no word
        assert (fake.options.line_directives, fake.options.line_statements) == wanted
    assert run("gen", "in.c", "--file-prefix-map", "a=b=c", "--file-prefix-map=/x/=", "--require-isa")[0] == 0
    assert fake.options.prefix_map == (("a=b", "c"), ("/x/", "")) and fake.options.require_isa
    assert run("gen", "in.c", "--file-prefix-map", "a")[0] == 2


def test_no_cpp(fake: Fake, folder: Path, run: Run) -> None:
    run("gen", "in.c", "--no-cpp")
    assert not fake.options.cpp.enabled


def test_emit_names_follow_the_output(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c", "--emit", "report,plan,c", "-o", "o.c") == (0, "", "")
    assert {p.name for p in folder.iterdir()} == {"in.c", "tmp", "o.c", "o.plan", "o.report.txt"}
    assert "tile 32 32\n" in Path("o.plan").read_text()
    report = Path("o.report.txt").read_text()
    assert "regions: 1 found, 1 transformed" in report and "--machine=generic" in report


@pytest.mark.parametrize(("output", "expected"), [("o.c", "o.plan"), ("my.txt", "my.txt"), ("p.plan", "p.plan")])
def test_lone_plan(fake: Fake, folder: Path, run: Run, output: str, expected: str) -> None:
    assert run("gen", "in.c", "--emit=plan", "-o", output)[0] == 0
    assert "tile 32 32" in Path(expected).read_text()


def test_lone_plan_on_stdout(fake: Fake, folder: Path, run: Run) -> None:
    assert "tile 32 32\n" in run("gen", "in.c", "--emit=plan")[1]


def test_depfile(fake: Fake, folder: Path, run: Run) -> None:
    Path("p.plan").write_text("", encoding="utf-8")
    assert run("gen", "in.c", "-o", "out.c", "-MD", "-MP", "--plan", "p.plan") == (0, "", "")
    first, *rest = Path("out.d").read_text().splitlines()
    assert first == "out.c: in.c p.plan a.h b\\ c.h"
    assert "a.h:" in rest


def test_depfile_named(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c", "-MD", "-MFdeps", "-MT", "x y")[0] == 0
    assert Path("deps").read_text().startswith("x y: in.c")


def test_own_files_are_guarded(fake: Fake, folder: Path, run: Run) -> None:
    Path("mine.c").write_text("int precious;\n", encoding="utf-8")
    code, out, err = run("gen", "in.c", "-o", "mine.c")
    assert (code, out) == (1, "") and "[not-generated]" in err
    assert Path("mine.c").read_text() == "int precious;\n"
    assert run("gen", "in.c", "-o", "mine.c", "--force")[0] == 0


def test_without_banner_a_second_run_works(fake: Fake, folder: Path, run: Run) -> None:
    fake.made = replace(fake.made, text="int a;\n")
    assert run("gen", "in.c", "-o", "o.c", "--no-banner")[0] == 0
    fake.made = replace(fake.made, text="int b;\n")
    assert run("gen", "in.c", "-o", "o.c", "--no-banner")[0] == 0
    assert Path("o.c").read_text() == "int b;\n"


def test_all_files_or_none(fake: Fake, folder: Path, run: Run) -> None:
    Path("o.report.txt").write_text("mine\n", encoding="utf-8")
    Path("o.plan").write_text("# @generated by tilewright\nold\n", encoding="utf-8")
    os.utime("o.plan", (1, 1))
    code, _, err = run("gen", "in.c", "--emit=c,plan,report", "-o", "o.c", "-MD")
    assert code == 1 and "[not-generated]" in err
    assert not Path("o.c").exists() and not Path("o.d").exists()
    assert Path("o.plan").read_text().endswith("old\n") and os.stat("o.plan").st_mtime == 1


def test_unwritable_folder(fake: Fake, folder: Path, run: Run) -> None:
    code, _, err = run("gen", "in.c", "-o", "nowhere/out.c")
    assert code == 1 and "error: cannot write nowhere/out.c" in err


def test_missing_input(fake: Fake, folder: Path, run: Run) -> None:
    code, out, err = run("gen", "absent.c", "-o", "out.c")
    error, note = err.splitlines()
    assert (code, out) == (1, "") and error.startswith("absent.c: error: cannot read absent.c: ")
    assert note == "absent.c: note: check its name, and the folder you are in"


def test_input_error_is_located_with_a_caret(fake: Fake, folder: Path, run: Run) -> None:
    fake.error = InputError("bad", "no good", Loc("in.c", 2, 9), "try this")
    code, out, err = run("gen", "in.c", "-o", "out.c")
    assert (code, out) == (1, "") and not Path("out.c").exists()
    assert err == (
        "in.c:2:9: error: no good [bad]\n    2 | #pragma scop\n      |         ^\nin.c:2:9: note: try this\n"
    )


def test_warnings_are_shown_and_do_not_fail(fake: Fake, folder: Path, run: Run) -> None:
    fake.made = replace(fake.made, diagnostics=(warning(),))
    code, out, err = run("gen", "in.c")
    assert code == 0 and out == fake.made.text and "in.c:2:1: warning: left as written [region-refused]" in err
    for hide in ("-w", "-q", "-Wno-region-refused"):
        assert run("gen", "in.c", hide)[2] == ""


@pytest.mark.parametrize("flag", ["-Werror", "-Werror=region-refused"])
def test_werror_writes_nothing(fake: Fake, folder: Path, run: Run, flag: str) -> None:
    fake.made = replace(fake.made, diagnostics=(warning(),))
    code, out, err = run("gen", "in.c", "-o", "o.c", flag)
    assert (code, out) == (1, "") and "error: left as written" in err and not Path("o.c").exists()
    assert run("gen", "in.c", "-Werror=other")[0] == 0


def test_strict(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c", "--strict")[0] == 0
    fake.made = replace(fake.made, regions=(Region(transformed=False),), diagnostics=(warning(),))
    assert run("gen", "in.c")[0] == 0
    code, out, err = run("gen", "in.c", "--strict", "-o", "o.c")
    assert (code, out) == (3, "") and not Path("o.c").exists()
    assert "in.c:2: error: region 1 was left untransformed" in err and "region-refused" in err


def test_remarks(fake: Fake, folder: Path, run: Run) -> None:
    remark = Diagnostic(Severity.REMARK, "tile", "tiled 32x32", Loc("in.c", 2), kind="passed")
    fake.made = replace(fake.made, diagnostics=(remark,))
    assert run("gen", "in.c")[2] == ""
    assert "remark: tiled" in run("gen", "in.c", "-Rpass=ti.e")[2]
    assert "remark: tiled" in run("gen", "-Rpass", "in.c")[2]
    assert run("gen", "in.c", "-Rpass-missed=.")[2] == ""
    err = run("gen", "in.c", "-v")[2]
    assert "remark: tiled" in err and "in.c:2: note: region 1: tiled [region]" in err


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_machine_readable_messages_are_one_document(fake: Fake, folder: Path, run: Run, form: str) -> None:
    fmt = f"--diagnostics-format={form}"
    json.loads(run("gen", "in.c", fmt, "-v")[2])
    Path("mine.c").write_text("x", encoding="utf-8")
    fake.made = replace(fake.made, diagnostics=(warning(),))
    both = run("gen", "in.c", "-o", "mine.c", fmt)[2]
    assert "region-refused" in both and "not-generated" in both
    json.loads(both)
    fake.error = ValueError("boom")
    json.loads(run("gen", "in.c", fmt, "--debug")[2])


def test_native_says_what_it_is(fake: Fake, folder: Path, run: Run) -> None:
    code, out, err = run("gen", "in.c", "--machine", "native")
    assert code == 0 and out == fake.made.text and "note: --machine native: " in err
    assert err.count("\n") == 1


def test_several_inputs_go_into_a_folder(fake: Fake, folder: Path, run: Run) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "b.c").write_text(SOURCE, encoding="utf-8")
    assert run("gen", "in.c", "-o", "out/", "-MD", "sub/b.c") == (0, "", "")
    assert sorted(os.listdir("out")) == ["b.c", "b.d", "in.c", "in.d"]
    assert [c[0] for c in fake.calls] == ["in.c", "sub/b.c"]
    assert run("gen", "in.c", "sub/b.c", "-o", "out") == (0, "", "")  # a folder that exists needs no slash
    # One that cannot be read does not keep the others from being written, and the messages are one document.
    code, _, err = run("gen", "none.c", "in.c", "gone.c", "-o", "new/", "--diagnostics-format=json")
    assert code == 1 and os.listdir("new") == ["in.c"] and len(json.loads(err)) == 2
    for words, says in (
        (("in.c", "sub/b.c"), "need -o FOLDER"), (("in.c", "./in.c", "-o", "out"), "two inputs are called 'in.c'"),
        (("-", "in.c", "-o", "out"), "standard input"),
        (("in.c", "sub/b.c", "-o", "out", "-MD", "-MF", "x"), "one input"),
        (("in.c", "-o", "./"), "would be overwritten"), (("in.c", "-o", "in.c/"), "cannot make the folder"),
    ):
        code, _, err = run("gen", *words)
        assert code == 2 and says in err, words


def test_always_write_gives_a_new_time(fake: Fake, folder: Path, run: Run) -> None:
    assert run("gen", "in.c", "-o", "out.c")[0] == 0
    os.utime("out.c", (1, 1))
    assert run("gen", "in.c", "-o", "out.c")[0] == 0 and os.stat("out.c").st_mtime == 1
    assert run("gen", "in.c", "-o", "out.c", "--always-write")[0] == 0 and os.stat("out.c").st_mtime > 1
