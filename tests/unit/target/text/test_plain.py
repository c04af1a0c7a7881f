"""Templates of plain text print without jinja2 what they print with it; compiled ones never outlive their source."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
import pytest

from codegen.resources import templates_dir
from codegen.target.text.plain import Templates, plain_code
from codegen.target.text.runtime import UndefinedName

PARTS = "{% macro put(x, by='-') %}<{{ x }}{{ by }}{{ scale }}>{% endmacro %}{% set two = 2 %}"
INNER = "{{ name|upper }}{{ x }}{% for k in range(2) %}{{ k }}{% endfor %}"
WHOLE = """
{%- from "parts.j2" import put, two with context %}
{%- macro lines(rows, pad) %}{% for r in rows %}
{{ pad }}{{ r.text }}{% if r.rows %}{{ lines(r.rows, pad + "  ") }}{% endif %}{% endfor %}{% endmacro -%}
{{ lines(tree, "") }}
{% for a, b in pairs %}{{ loop.index }}{{ loop.index0 }}{{ a }}{{ b }}{{ ", " if not loop.last }}{{ "!" if loop.first }}
{%- endfor %}
{{ pairs|map(attribute=1)|join("+") }} {{ tree|map(attribute="text.real")|list|length if false else two }}
{{ pairs|length }} {{ [3, 9, 2]|max }} {{ (7 / 2)|int }} {{ "a*b"|replace("*", "/") }} {{ [1, 2]|reverse|join }}
{{ ["", "x", none, "y"]|select|join(",") }} {{ 12|string ~ "z" }} {{ "a\n\nb\nc"|indent(3) }}
{{ put(1) }}{{ put(2, by="*") }}{{ put(by="/", x=3) }} {{ given is defined }} {{ nothing is none }} {{ name is string }}
{% with x = 5 %}{% include "inner.j2" %}{% endwith %}{% filter indent(2) %}p
q{% endfilter %}{{ facts.key }}{{ facts["key"] }}{{ text[1:3] }}"""
VALUES = {
    "tree": [{"text": "one", "rows": [{"text": "two", "rows": []}]}, {"text": "three", "rows": []}],
    "pairs": [(1, "a"), (2, "b"), (3, "c")], "nothing": None, "name": "n",
    "scale": 4, "facts": {"key": 7}, "text": "abcd",
}  # fmt: skip


@pytest.fixture()
def folder(tmp_path: Path) -> Path:
    for name, text in (("parts.j2", PARTS), ("inner.j2", INNER), ("whole.c.j2", WHOLE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def jinja(folder: Path) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(str(folder))
    return jinja2.Environment(loader=loader, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)


def test_prints_what_jinja_prints(folder: Path) -> None:
    wanted = jinja(folder).get_template("whole.c.j2").render(VALUES)
    assert Templates(folder).get_template("whole.c.j2").render(VALUES) == wanted
    assert "    two" not in wanted and "\n  two" in wanted and wanted.endswith("77bc")


def test_macros_of_a_template(folder: Path) -> None:
    (folder / "m.j2").write_text("{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}")
    assert Templates(folder).get_template("m.j2").module.twice("ab") == "abab"
    with pytest.raises(TypeError, match="twice"):
        Templates(folder).get_template("m.j2").module.twice("a", "b")


@pytest.mark.parametrize("text", ["{{ x }}", "{% if x %}{% endif %}", "{% for y in x %}{% endfor %}", "{{ f.x }}",
                                  "{{ f.x == 1 }}", "{{ x + 1 }}", "{{ x.y }}", "{{ x() }}"])  # fmt: skip
def test_what_is_not_there_is_an_error(folder: Path, text: str) -> None:
    (folder / "u.j2").write_text(text)
    with pytest.raises(UndefinedName, match="x"):
        Templates(folder).get_template("u.j2").render(f={})


@pytest.mark.parametrize("text", ["{{ x|tojson }}", "{% macro m() %}{{ varargs }}{% endmacro %}",
                                  "{% macro m() %}{{ caller() }}{% endmacro %}"])  # fmt: skip
def test_what_is_not_supported_is_not_compiled(text: str) -> None:
    with pytest.raises((NotImplementedError, jinja2.TemplateAssertionError)):
        plain_code("a.j2", text)


def test_kept_until_the_source_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    kept = Path(cache_from_source(str(folder / "inner.j2")))
    assert Templates(folder).get_template("inner.j2").render(name="n", x=1) == "N101"
    good = kept.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("codegen.target.text.plain.plain_code", lambda *_: pytest.fail("compiled again"))
        assert Templates(folder).get_template("inner.j2").render(name="n", x=1) == "N101"
    for junk in (b"", b"junk", good[:-10]):
        kept.write_bytes(junk)
        assert Templates(folder).get_template("inner.j2").render(name="n", x=1) == "N101"
        assert kept.read_bytes() == good
    (folder / "inner.j2").write_text("{{ x }}")
    assert Templates(folder).get_template("inner.j2").render(x=1) == "1"


def test_nothing_is_written_when_python_may_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert Templates(folder).get_template("inner.j2").render(name="n", x=1) == "N101"
    assert not Path(cache_from_source(str(folder / "inner.j2"))).exists()


def test_all_templates_but_pages_are_plain() -> None:
    plain = [f for f in templates_dir().rglob("*.j2") if f.suffixes[-2:-1] not in ([".html"], [".css"], [".js"])]
    assert len(plain) > 80
    for file in plain:
        assert plain_code(file.name, file.read_text()).startswith("from codegen.target.text.runtime import ")


def test_compiled_templates_do_without_jinja(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    Templates(folder).get_template("inner.j2")
    code = (
        "import sys; from pathlib import Path; from codegen.target.text.plain import Templates\n"
        f"Templates(Path({str(folder)!r})).get_template('inner.j2').render(name='n', x=1)\n"
        "sys.exit('jinja2' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
