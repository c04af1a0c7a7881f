"""The result of `codegen.generate` as an object: generated files, plan, messages."""
from __future__ import annotations

import os
from collections.abc import Mapping

from codegen.api.options import Input
from codegen.api.plans import Plan
from codegen.diagnostics import Diagnostic, Severity
from codegen.pipeline import RegionResult
from codegen.record import record


@record
class Report:
    """The page that `tilewright inspect --html` writes; a notebook shows it in a frame."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        from codegen.source.write import write_if_changed

        write_if_changed(os.fspath(path), self.html)

    def _repr_html_(self) -> str:
        from codegen.api.display import frame

        return frame(self.html)


@record
class Result:
    """A generated file and everything said about it.

    Attributes
    ----------
    text : str
        The C file; for Sunway the master's, and `files` holds the others by name.
    regions : tuple of RegionResult
        For each marked nest its line, whether it was `transformed`, its `plan` and a `summary`.
    plan : Plan
        What was done; it can be edited and applied again.
    diagnostics : tuple of Diagnostic
        Every message: warnings with the reasons of refusals as notes, and remarks.
    deps : tuple of str
        The headers that were read.
    """

    source: Input
    text: str
    regions: tuple[RegionResult, ...]
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    deps: tuple[str, ...]
    files: Mapping[str, str]

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What was done, missed and found on the way; `kind` tells which."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.REMARK)

    @property
    def transformed(self) -> bool:
        """Whether there are regions and all were transformed."""
        return bool(self.regions) and all(r.transformed for r in self.regions)

    def messages(self) -> str:
        """The messages as the command prints them, with the lines they point at."""
        from codegen.render import Style, render

        return render(self.diagnostics, Style(sources={self.source.name: self.source.text}))

    def report(self) -> Report:
        """The report with both files side by side, schedules, dependences and costs."""
        from codegen.report.html.page import describe_html

        return Report(describe_html(self.source.name, self.source.text, self.source.options))

    def save(self, path: str | os.PathLike[str], force: bool = False) -> bool:
        """Write the C file if it would change. Files that tilewright did not write are left alone unless forced."""
        from codegen.source.write import write_if_changed

        return write_if_changed(os.fspath(path), self.text, force)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        done = sum(r.transformed for r in self.regions)
        return f"<Result of {self.source.name}: {done} of {len(self.regions)} regions transformed>"

    def _repr_html_(self) -> str:
        from codegen.api.display import result_html

        return result_html(self)
