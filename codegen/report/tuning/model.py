"""Records of the tuning page, as plain values for its template."""

from __future__ import annotations

from codegen.record import record
from codegen.report.html.model import Picture, TableView, TreeRow


@record
class PlanLine:
    """A line of a plan; `mark` is "new", "gone" or nothing."""

    text: str
    mark: str = ""


@record
class TuningView:
    """One region: figures in words, its charts, and its plan."""

    id: str
    title: str
    summary: str
    improved: bool
    facts: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...]
    nest: Picture | None
    before: tuple[TreeRow, ...]
    after: tuple[TreeRow, ...]
    plan: tuple[PlanLine, ...]
    best: TableView | None
    failures: TableView | None


@record
class TuningPage:
    title: str
    version: str
    machine: str
    conditions: str
    methods: tuple[str, ...]
    overview: TableView
    comparison: TableView | None
    pictures: tuple[Picture, ...]
    regions: tuple[TuningView, ...]
    notes: tuple[str, ...]
