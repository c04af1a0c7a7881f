"""Plans as objects: what to do to each region, to print, read, edit and apply."""
from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from codegen.diagnostics import InputError
from codegen.record import record

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from codegen.api.options import Options, Source
    from codegen.api.result import Result

_HEAD = re.compile(r"region\s+(\d+)(?:\s+digest\s+(\w+))?\s*([^#]*)#?(.*)")


@record
class RegionPlan:
    """The directives for one region, each as text (docs/plans.md lists them).

    `digest` identifies the code it was made for, "" any; `comment` says where that is.
    """

    region: int
    directives: tuple[str, ...]
    digest: str = ""
    comment: str = ""

    def __str__(self) -> str:
        head = f"region {self.region}" + (f" digest {self.digest}" if self.digest else "")
        lines = [head + (f"  # {self.comment}" if self.comment else "")]
        lines += ["  " + line for d in self.directives for line in d.splitlines()]
        return "\n".join(lines) + "\n"


@record
class Plan:
    """A plan for the regions of a file, as `tilewright gen --emit plan` prints it and `--plan` obeys it.

    `Plan.parse(str(plan)) == plan`. The text of a directive is looked at when the plan is applied, since its loops and
    statements are those of a source: errors are then located in `str(plan)`.
    """

    regions: tuple[RegionPlan, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Read the text of a plan. InputError when it does not say which regions it is for, each once."""
        from codegen.plan_reader.parse import planned_regions

        asked = planned_regions(text, "<plan>")
        made = cls(tuple(_blocks(text)))
        lost = [loc for number, loc in asked if number not in {r.region for r in made.regions}]
        if lost:
            message = "a region begins in the middle of a line"
            raise InputError("bad-plan", message, lost[0], "give it a line of its own")
        return made

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a plan file."""
        from codegen.plan.files import read_plan

        return cls.parse(read_plan(os.fspath(path)))

    @classmethod
    def of(cls, directives: Mapping[int, Iterable[str]]) -> Plan:
        """A plan by hand: `Plan.of({1: ["tile i:32, j:32", "parallel it"]})`."""
        return cls(tuple(RegionPlan(n, tuple(lines)) for n, lines in sorted(directives.items())))

    def __str__(self) -> str:
        return "".join(map(str, self.regions))

    def __getitem__(self, region: int) -> RegionPlan:
        """The plan of a region, by the region's number."""
        for found in self.regions:
            if found.region == region:
                return found
        raise KeyError(f"there is no plan for region {region}")

    def with_directives(self, region: int, directives: Iterable[str]) -> Plan:
        """The same plan with other directives for a region."""
        changed = replace(self[region], directives=tuple(directives))
        return Plan(tuple(changed if r.region == region else r for r in self.regions))

    def apply(self, source: Source, **options: Unpack[Options]) -> Result:
        """Generate code by this plan. InputError when it is stale, illegal or unreadable."""
        from codegen.api.generate import generate

        options["plan"] = self
        return generate(source, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a file, whatever is there."""
        from codegen.source.write import write_if_changed

        write_if_changed(os.fspath(path), str(self), force=True)

    def _repr_html_(self) -> str:
        from codegen.api.display import plan_html

        return plan_html(self)


def _blocks(text: str) -> Iterable[RegionPlan]:
    """The text cut at its `region` lines, and each block at the lines that begin a directive."""
    from codegen.plan_reader.parse import DIRECTIVES

    head: RegionPlan | None = None
    lines: list[list[str]] = []
    for raw in text.splitlines():
        start = _HEAD.match(raw.strip())
        if start:
            if head is not None:
                yield replace(head, directives=_joined(lines))
            head, lines = RegionPlan(int(start[1]), (), start[2] or "", start[4].strip()), []
        line = start[3].rstrip() if start else raw.split("#")[0].rstrip()
        if not line.strip():
            continue
        if not lines or (line.split()[0] in DIRECTIVES and _is_complete(lines[-1])):
            lines.append([])
        lines[-1].append(line)
    if head is not None:
        yield replace(head, directives=_joined(lines))


def _is_complete(lines: list[str]) -> bool:
    """Whether a directive may end here: not inside braces, and not after a comma."""
    text = "\n".join(lines)
    return text.count("{") == text.count("}") and not text.endswith(",")


def _joined(directives: list[list[str]]) -> tuple[str, ...]:
    """Each directive without the indentation of its first line."""
    out = []
    for lines in directives:
        margin = len(lines[0]) - len(lines[0].lstrip())
        out.append("\n".join(x[min(margin, len(x) - len(x.lstrip())):] for x in lines))
    return tuple(out)
