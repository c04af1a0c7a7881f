"""The command line itself: help, version, mistakes, response files, faults."""
from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import __version__
from codegen.cli.options import TABLE, options_of
from codegen.cli.shell.docs import markdown
from codegen.diagnostics import InternalError, Loc
from codegen.options import CppOptions, GenOptions, effective_options
from tests.cli.fakes import SOURCE, Fake, Run

ROOT = Path(__file__).parents[2]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "codegen", *words]


def test_version_and_help_go_to_stdout(run: Run) -> None:
    assert run("--version") == (0, f"tilewright {__version__}\n", "")
    code, out, err = run("--help")
    assert (code, err) == (0, "") and "gen" in out and "check" in out
    for name in ("gen", "check", "inspect", "machine", "doctor"):
        code, out, err = run(name, "--help")
        assert (code, err) == (0, "") and f"tilewright {name}" in out


def test_starts_quickly() -> None:
    """Processor time, the best of five: other work may be going on."""

    def once(word: str) -> float:
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command(word), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime

    assert min(once("--version") for _ in range(5)) < 0.25
    assert min(once("--help") for _ in range(5)) < 0.25


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from codegen.cli.main import main; main(['gen', '--help']); " \
           "sys.exit(any(m in sys.modules for m in ('islpy', 'jinja2', 'pycparser')))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("words", "says"), [
    ((), "no command given"),
    (("gne", "in.c"), "did you mean 'gen'?"),
    (("gen",), "FILE.c"),
    (("gen", "in.c", "other.c"), "several inputs need -o FOLDER"),
    (("gen", "in.c", "--reasociate"), "did you mean '--reassociate'?"),
    (("bench", "in.c", "--json"), "did you mean '--format json'?"),
    (("explain", "call"), "did you mean 'gpu-call' or 'sunway-call' or 'unknown-call'?"),
    (("gen", "in.c", "--target", "fpga"), "invalid choice: 'fpga'"),
    (("gen", "in.c", "--timeout", "0"), "--timeout: '0' is not a positive number of seconds"),
    (("gen", "in.c", "--isa", "avx"), "--isa: 'avx' is not an instruction set (generic, neon, sve, avx2, avx512) or a"),
    (("gen", "in.c", "--prefix", "9"), "--prefix: '9' is not a word that C names can begin with"),
    (("gen", "in.c", "--file-prefix-map", "x"), "--file-prefix-map: 'x' is not OLD=NEW"),
    (("gen", "in.c", "--emit", "x"), "note: see tilewright gen --help"),
    (("gen", "in.c", "--emit", "c,asm"), "unknown artefact 'asm'"),
    (("gen", "in.c", "--emit", "c,plan"), "several artefacts need -o"),
    (("gen", "in.c", "-o", "in.c"), "would be overwritten"),
    (("gen", "in.c", "-o", "o.c", "-MD", "-MF", "in.c"), "would be overwritten"),
    (("gen", "in.c", "-MD"), "-MD without -o"),
    (("gen", "in.c", "-MF", "x"), "need -MD"),
    (("gen", "in.c", "--cpp", "cc -E", "--no-cpp"), "exclude each other"),
    (("gen", "in.c", "--cpp", "'cc"), "--cpp"),
    (("gen", "in.c", "-Rpass=("), "not a regular expression"),
    (("gen", "@absent"), "cannot read response file 'absent'"),
    (("gen", "@loop"), "nest too deeply"),
    (("machine", "show"), "needs a NAME"),
    (("machine", "list", "zen3"), "takes no NAME"),
    (("machine", "frob"), "invalid choice"),
])
def test_bad_command_lines(fake: Fake, folder: Path, run: Run, words: tuple[str, ...], says: str) -> None:
    Path("loop").write_text("@loop", encoding="utf-8")
    code, out, err = run(*words)
    assert (code, out) == (2, "") and says in err and not fake.calls
    assert err.startswith("tilewright: error: ")
    assert Path("in.c").read_text() == SOURCE


def test_response_file_and_end_of_options(fake: Fake, folder: Path, run: Run) -> None:
    Path("args").write_text("--target c\n-D 'A=1 2' @more", encoding="utf-8")
    Path("more").write_text("--machine zen2", encoding="utf-8")
    Path("-odd.c").write_text(SOURCE, encoding="utf-8")
    assert run("gen", "@args", "--", "-odd.c")[0] == 0
    assert (fake.options.target, fake.options.machine) == ("c", "zen2")
    assert fake.options.cpp.args == ("-DA=1 2",) and fake.calls[0][0] == "-odd.c"
    Path("@at.c").write_text(SOURCE, encoding="utf-8")
    assert run("gen", "--", "@at.c")[0] == 0


@pytest.mark.parametrize("error", [
    KeyError("gone"), RecursionError("deep"), InternalError("proof-failed", "runs backwards", Loc("in.c", 2)),
])
def test_internal_error(fake: Fake, folder: Path, run: Run, error: Exception) -> None:
    fake.error = error
    code, out, err = run("gen", "in.c", "-o", "o.c")
    assert (code, out) == (70, "") and not Path("o.c").exists()
    assert err.startswith("tilewright: internal error: ") and "please report" in err and err.count("\n") == 1
    (saved,) = (folder / "tmp").iterdir()
    assert str(saved) in err
    assert (saved / "input.c").read_text() == SOURCE
    assert "tilewright gen in.c -o o.c" in (saved / "command.txt").read_text()
    assert type(error).__name__ in (saved / "traceback.txt").read_text()


def test_debug_shows_the_traceback(fake: Fake, folder: Path, run: Run) -> None:
    fake.error = KeyError("gone")
    code, _, err = run("gen", "in.c", "--debug")
    assert code == 70 and "Traceback" in err


def test_interrupt(fake: Fake, folder: Path, run: Run) -> None:
    fake.error = KeyboardInterrupt()
    assert run("gen", "in.c", "-o", "o.c") == (130, "", "tilewright: interrupted\n")
    assert not Path("o.c").exists()


@pytest.mark.parametrize(("words", "codes"), [(("machine", "list"), (141,)), (("gen", "--help"), (0, 141))])
def test_broken_pipe_is_silent(words: tuple[str, ...], codes: tuple[int, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command(*words), cwd=ROOT, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode in codes and done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_device_is_an_error() -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(command("machine", "list"), cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and done.stderr.startswith(b"tilewright: error: cannot write standard output")
    assert done.stderr.count(b"\n") == 1


def test_closed_streams(tmp_path: Path) -> None:
    """What has a file of its own is written; standard output cannot be."""
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh"]
    (tmp_path / "in.c").write_text(
        "void f(int n, double *a) {\n#pragma scop\nfor (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n}\n"
    )
    words = command("gen", str(tmp_path / "in.c"))
    for more, code, said in (((), 1, "cannot write standard output"), (("-o", str(tmp_path / "out.c")), 0, "")):
        done = subprocess.run([*closed, *words, *more], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert "@generated" in (tmp_path / "out.c").read_text()
    for word in ("--version", "--help", "--print-make"):
        done = subprocess.run([*closed, *command(word)], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith("tilewright: error: cannot write standard output")
        assert done.stderr.count("\n") == 1


def test_closed_streams_of_the_wrapper() -> None:
    """As those of the command; a compiler that has nothing to say is run."""
    words = [sys.executable, "-c", "import sys; from codegen.cli.wrap.wrapper import main; sys.exit(main())"]
    for streams in (">&-", "<&- >&-"):
        for word, code, said in (("--version", 1, "cannot write"), ("--help", 1, "cannot write"), ("true", 0, "")):
            closed = ["sh", "-c", f'exec "$@" {streams}', "sh", *words, word]
            done = subprocess.run(closed, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == code and said in done.stderr and done.stderr.count("\n") == code, done.stderr


def test_options_page_is_current() -> None:
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert page == markdown(), "run python -m codegen.cli.shell.docs > docs/options.md"


def test_option_table_is_sound() -> None:
    for name in ("gen", "check", "inspect"):
        flags = [f for o in options_of(name) for f in o.flags]
        assert len(flags) == len(set(flags))
    assert all(o.help and o.kind in ("flag", "value", "list", "cpp") for o in TABLE)


def test_effective_options() -> None:
    assert effective_options(GenOptions()) == "--target=openmp --machine=generic"
    full = GenOptions(
        target="c", machine="/home/me/my.toml", plan_text="x", plan_name="/p/a.plan", reassociate=True,
        check_alias=True, context="N >= 64", line_directives=True,
        cpp=CppOptions(args=("-I/secret", "-DX=1", "-include", "/secret/h.h", "-UY")),
    )
    assert effective_options(full) == (
        "--target=c --machine=my.toml --plan=a.plan --reassociate --check-alias '--context=N >= 64' --line -DX=1 -UY"
    )


@pytest.mark.parametrize("nasty", ["*/", "/*/", "*\\\n/", "\u00e9", "/**/"])
def test_effective_options_stay_inside_a_comment(nasty: str) -> None:
    text = effective_options(GenOptions(context=nasty, cpp=CppOptions(args=(f"-D{nasty}",))))
    assert "*/" not in text and "/*" not in text and "\n" not in text and text.isascii()


def _joined(flag: str, value: str) -> list[str]:
    if flag in ("-O", "-f", "-m"):
        return [flag + value]
    return [f"{flag}={value}"] if flag.startswith("--") else [flag, value]


def test_every_generation_option_is_in_the_effective_options(fake: Fake, folder: Path, run: Run) -> None:
    """Those about the banner itself, paths, and the name of the input are the only exceptions."""
    Path("p").write_text("", encoding="utf-8")
    values = {"--target": "c", "--machine": "zen4", "--isa": "avx2", "--plan": "p", "--context": "N > 1",
              "--fusion": "max", "--fp-contract": "off", "--timeout": "5"}
    values |= {"-O": "2", "-f": "openmp", "-m": "arch=native"}
    values |= {"-D": "A", "-U": "B", "-std": "c99", "--prefix": "mine", "--line": "statements"}
    silent = {"--no-banner", "--no-version", "-p", "-I", "-include", "-isystem", "-iquote", "--cpp", "--input-name"}
    silent |= {"--file-prefix-map", "--comm"}
    silent |= {"--threads", "--scheme", "--distribute", "--network", "--arrays", "--device"}  # of single targets
    silent.add("--ldm-cache")
    for option in (o for o in TABLE if "gen" in o.commands and o.affects_output and not silent & set(o.flags)):
        flag = option.flags[0]
        assert run("gen", "in.c", *([flag] if option.kind == "flag" else _joined(flag, values[flag])))[0] == 0
        assert effective_options(fake.options) != effective_options(GenOptions()), flag
