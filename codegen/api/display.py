"""What a notebook shows: HTML without scripts, in the colours of the notebook's theme."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING

from codegen.report.html.highlight import highlight
from codegen.target.templates import environment

if TYPE_CHECKING:
    from codegen.api.plans import Plan
    from codegen.api.result import Result


def result_html(result: Result) -> str:
    """The generated file with its regions, plans and remarks."""
    notes = [f"{d.loc}: {d.severity.value}: {d.message} [{d.id}]"
             for top in result.diagnostics for d in (top, *top.notes)]
    files = {result.source.name: result.text, **result.files}
    code = [(name, list(highlight(text))) for name, text in files.items()]
    return _render(name=result.source.name, regions=result.regions, notes=notes, code=code, plan="")


def plan_html(plan: Plan) -> str:
    return _render(name="", regions=(), notes=(), code=(), plan=str(plan))


def frame(page: str, height: int = 640) -> str:
    """A whole page inside another; its script reaches nothing outside of the frame."""
    return (f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts" title="tilewright report" '
            f'style="width:100%;height:{height}px;border:1px solid #8888;border-radius:6px"></iframe>')


def _render(**values: object) -> str:
    return environment().get_template("notebook.html.j2").render(**values)
