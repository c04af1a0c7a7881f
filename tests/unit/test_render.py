"""Messages as text, JSON and SARIF, and which of them are shown."""
from __future__ import annotations

import json

import pytest

from codegen.diagnostics import Diagnostic, Loc, Severity
from codegen.filters import Filters, select, warning_level
from codegen.render import Style, render, want_color

E, W, N, R = Severity.ERROR, Severity.WARNING, Severity.NOTE, Severity.REMARK
SOURCE = {"a.c": "int x;\n\tfoo(y);\n"}
ERROR = Diagnostic(E, "non-affine", "subscript is not affine", Loc("a.c", 2, 6), hint="use a plain index")
WARNING = Diagnostic(W, "aliasing", "may overlap", Loc("a.c", 1, 5))
TILED = Diagnostic(R, "tile", "tiled 32x32", Loc("a.c", 1), kind="passed")
MISSED = Diagnostic(R, "vectorize", "carried dependence", Loc("a.c", 1), kind="missed")


def test_text_with_caret_and_hint() -> None:
    assert render([ERROR], Style(sources=SOURCE)) == (
        "a.c:2:6: error: subscript is not affine [non-affine]\n"
        "    2 | \tfoo(y);\n"
        "      | \t    ^\n"
        "a.c:2:6: note: use a plain index\n"
    )


@pytest.mark.parametrize("loc", [Loc("b.c", 1, 1), Loc("a.c", 99, 1), Loc("a.c"), Loc("a.c", 3, 1)])
def test_no_snippet_where_there_is_no_line(loc: Loc) -> None:
    text = render([Diagnostic(E, "x", "m", loc)], Style(sources=SOURCE))
    assert text == f"{loc}: error: m [x]\n"


def test_column_past_the_end_gives_no_caret() -> None:
    text = render([Diagnostic(E, "x", "m", Loc("a.c", 1, 40))], Style(sources=SOURCE))
    assert "^" not in text and "int x;" in text


def test_notes_follow() -> None:
    d = Diagnostic(W, "w", "m", Loc("a.c", 1, 1), notes=(Diagnostic(N, "n", "see here", Loc("a.c", 2, 2)),))
    assert render([d], Style()).splitlines() == ["a.c:1:1: warning: m [w]", "a.c:2:2: note: see here [n]"]


def test_error_limit_counts_the_rest() -> None:
    text = render([ERROR] * 5 + [WARNING], Style(error_limit=2))
    assert text.count("error:") == 2 and text.count("warning:") == 1
    assert "tilewright: note: 3 more errors not shown (--error-limit 2)" in text
    assert render([ERROR] * 50, Style(error_limit=0)).count("error:") == 50


def test_colors() -> None:
    text = render([ERROR], Style(color=True, sources=SOURCE))
    assert "\x1b[1;31merror:\x1b[0m" in text
    assert "\x1b" not in render([ERROR], Style(sources=SOURCE))


@pytest.mark.parametrize(("when", "tty", "env", "expected"), [
    ("auto", True, {}, True), ("auto", False, {}, False), ("auto", True, {"NO_COLOR": "1"}, False),
    ("auto", True, {"NO_COLOR": ""}, True), ("auto", True, {"TERM": "dumb"}, False),
    ("always", False, {"NO_COLOR": "1"}, True), ("never", True, {}, False),
])
def test_want_color(when: str, tty: bool, env: dict[str, str], expected: bool) -> None:
    assert want_color(when, tty, env) is expected


def test_json() -> None:
    assert json.loads(render([], Style("json"))) == []
    first, second = json.loads(render([ERROR, TILED], Style("json")))
    assert first == {
        "severity": "error", "id": "non-affine", "message": "subscript is not affine", "file": "a.c", "line": 2,
        "column": 6, "hint": "use a plain index",
    }
    assert second["kind"] == "passed" and "column" not in second


def test_sarif() -> None:
    stdin = Diagnostic(E, "x", "m", Loc("<stdin>", 1, 1))
    log = json.loads(render([ERROR, TILED, stdin], Style("sarif")))
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert rules == sorted(rules) == ["non-affine", "tile", "x"]
    assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])
    error, remark, nowhere = run["results"]
    place = error["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 2, "startColumn": 6}}
    assert (error["level"], remark["kind"], remark["level"]) == ("error", "informational", "none")
    assert "locations" not in nowhere
    assert json.loads(render([], Style("sarif")))["runs"][0]["results"] == []


def test_sarif_addresses() -> None:
    def uri(path: str) -> str:
        log = json.loads(render([Diagnostic(E, "x", "m", Loc(path, 1))], Style("sarif")))
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        return str(place["artifactLocation"]["uri"])

    assert uri("/a b/c.c") == "file:///a%20b/c.c" and uri("d#/x.c") == "d%23/x.c"


def test_sarif_rule_is_the_reason_and_has_its_help() -> None:
    why = Diagnostic(N, "jump", "there is a goto", Loc("a.c", 2, 2))
    refused = Diagnostic(W, "region-refused", "region 1 is left as it is", Loc("a.c", 1, 1), notes=(why,))
    run = json.loads(render([refused], Style("sarif")))["runs"][0]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == run["results"][0]["ruleId"] == "jump"
    assert "Turn the exit into a loop bound" in rule["help"]["text"] and rule["shortDescription"]["text"].endswith(".")


def test_annotations() -> None:
    assert render([ERROR, Diagnostic(W, "x", "100 %", Loc("tilewright"))], Style("github")) == (
        "::error file=a.c,line=2,col=6,title=tilewright non-affine::subscript is not affine%0Ause a plain index\n"
        "::warning title=tilewright x::100 %25\n"
    )


def test_what_would_help_goes_with_the_notes() -> None:
    """Of a region that is left as it is, each obstacle with the smallest edit against it."""
    note = Diagnostic(N, "jump", "`goto` leaves the loop", Loc("a.c", 3, 2), "rewrite it with `if`")
    left = Diagnostic(W, "region-refused", "region 1 is left as it is", Loc("a.c", 1), notes=(note,))
    assert "a.c:3:2: `goto` leaves the loop [jump]: rewrite it with `if`" in render([left], Style("github"))
    (result,) = json.loads(render([left], Style("sarif")))["runs"][0]["results"]
    assert result["ruleId"] == "jump"
    assert result["relatedLocations"][0]["message"]["text"] == "`goto` leaves the loop\nrewrite it with `if`"


def test_default_shows_warnings_but_no_remarks() -> None:
    assert select([ERROR, WARNING, TILED, MISSED], Filters()) == (ERROR, WARNING)


def test_quiet_and_verbose() -> None:
    note = Diagnostic(N, "n", "m", Loc("a.c"))
    everything = [ERROR, WARNING, note, TILED]
    assert select(everything, Filters(quiet=True)) == (ERROR,)
    assert select(everything, Filters(verbose=True)) == tuple(everything)


def test_remarks_by_kind_and_pattern() -> None:
    passed = Filters(remarks=(("passed", "^til"),))
    assert select([TILED, MISSED], passed) == (TILED,)
    assert select([TILED, MISSED], Filters(remarks=(("passed", "vec"),))) == ()
    assert select([TILED, MISSED], Filters(remarks=(("missed", "."),))) == (MISSED,)


@pytest.mark.parametrize(("words", "off", "level"), [
    ((), False, "warning"), (("no-a",), False, "off"), (("no-a", "a"), False, "warning"), ((), True, "off"),
    (("a",), True, "warning"), (("error",), False, "error"), (("error=a",), False, "error"),
    (("error=b",), False, "warning"), (("error", "no-error=a"), False, "warning"), (("error=a",), True, "error"),
    (("error", "no-error"), False, "warning"), (("no-all",), False, "off"), (("no-all", "a"), False, "warning"),
    (("error=a", "no-a"), False, "off"), (("error",), True, "off"),
])
def test_warning_levels(words: tuple[str, ...], off: bool, level: str) -> None:
    assert warning_level("a", Filters(words, no_warnings=off)) == level


def test_promoted_warning_survives_quiet() -> None:
    (shown,) = select([WARNING], Filters(("error",), quiet=True))
    assert shown.severity is E
