"""HTML that notebooks show (`_repr_html_`): a `Result` and a `Plan` without scripts, in the colours of the notebook's
theme, and a whole report page in a sandboxed frame."""
from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from codegen.print.templates import environment
from codegen.report.html.highlight import highlight

if TYPE_CHECKING:
    from codegen.api.plans import Plan
    from codegen.api.result import Result


def result_html(result: Result) -> str:
    """The generated file with its regions, plans and remarks."""
    notes = [f"{d.loc}: {d.severity.value}: {d.message} [{d.id}]"
             for top in result.diagnostics for d in (top, *top.notes)]
    parts = {f"region {number}": text for number, text in region_texts(result.text)}
    files = {**parts, f"{result.source.name}, the whole file": result.text, **result.files}
    code = [(name, list(highlight(text))) for name, text in files.items()]
    return _render(name=result.source.name, regions=result.regions, notes=notes, code=code, plan="")


_REGION = re.compile(r"^([ \t]*)/\* tilewright: region (\d+) of .*\n(?:(?!\1}$).*\n)*\1}$", re.M)


def region_texts(text: str) -> list[tuple[int, str]]:
    """The transformed nests of a generated file with their numbers: from its comment to the brace that ends it."""
    return [(int(m[2]), re.sub(rf"^{m[1]}", "", m[0], flags=re.M)) for m in _REGION.finditer(text)]


def plan_html(plan: Plan) -> str:
    return _render(name="", regions=(), notes=(), code=(), plan=str(plan))


def frame(page: str, height: int = 640) -> str:
    """A whole page inside another; its script reaches nothing outside of the frame."""
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" title="tilewright report" '
            f'style="width:100%;height:{height}px;border:1px solid #8888;border-radius:6px"></iframe>')


def _render(**values: object) -> str:
    return environment().get_template("notebook.html.j2").render(**values)
