"""What the page shows, as plain values: text, numbers and shapes. They leave a child process, so nothing of isl."""

from __future__ import annotations

from codegen.record import record


@record
class SvgElement:
    """An SVG element. `title` is what is shown under the pointer."""

    tag: str
    cls: str
    attributes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    title: str = ""


@record
class Picture:
    """A drawing of `width` by `height`; `label` says in words what is in it."""

    width: float
    height: float
    label: str
    shapes: tuple[SvgElement, ...]
    caption: str = ""
    moments: int = 0  # of tiles that a slider goes through, 0 for none


@record
class Mark:
    """A statement on a line. `key` is the same in both files; the first line of each part has a link `to` the other
    file, and the first of all is where the other file's links lead: `id`. `hue` is the number of its colour."""

    key: str
    name: str
    hue: int
    to: str = ""
    id: str = ""


@record
class CodeLine:
    """A line of a file. `pieces` are its parts, each with a class for its colour; `note` is a refusal to show below."""

    number: int
    pieces: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...] = ()
    note: str = ""


@record
class TreeRow:
    """A line of a schedule tree. `kinds` are words for its style; `new` tells that the directive made or changed it."""

    depth: int
    text: str
    kinds: str = ""
    new: bool = False
    hue: int | None = None  # of a statement


@record
class StepView:
    """A directive, what it does in a sentence, and the tree before and after it."""

    directive: str
    says: str
    before: tuple[TreeRow, ...]
    after: tuple[TreeRow, ...]

    @property
    def same(self) -> bool:
        return not any(row.new for row in (*self.before, *self.after))


@record
class StatementView:
    name: str
    line: int
    source: str
    domain: str
    hue: int = 0
    spaces: tuple[tuple[Picture, ...], ...] = ()  # cuts, each with its dependences


@record
class DependenceView:
    kind: str
    array: str
    relation: str


@record
class RegionFacts:
    """What the model holds of a region before anything is done to it."""

    function: str
    parameters: str
    guards: tuple[str, ...]
    arrays: tuple[str, ...]
    reductions: str
    dependences: tuple[DependenceView, ...]


@record
class TableView:
    """A table of text; `head` names the columns, `caption` the whole."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@record
class Refusal:
    id: str
    message: str
    line: int
    hint: str


@record
class Details:
    """What is known of a region once it is analysed. `cores` is the description of a core group, line by line."""

    facts: RegionFacts | None = None
    statements: tuple[StatementView, ...] = ()
    source_tree: tuple[TreeRow, ...] = ()
    steps: tuple[StepView, ...] = ()
    final_tree: tuple[TreeRow, ...] = ()
    footprints: TableView | None = None
    footprint_picture: Picture | None = None
    roofline: Picture | None = None
    speed: str = ""
    predicted: str = ""  # what the cost model promises
    ownership: tuple[TableView, ...] = ()
    remarks: tuple[str, ...] = ()
    techniques: tuple[TableView, ...] = ()
    cores: tuple[str, ...] = ()
    refusal: Refusal | None = None


@record
class RegionView:
    index: int
    first: int
    last: int
    state: str  # transformed, left, empty, off
    summary: str
    plan: str
    details: Details


@record
class Page:
    name: str
    version: str
    options: str
    machine: str
    source: tuple[CodeLine, ...]
    result: tuple[CodeLine, ...]
    regions: tuple[RegionView, ...]
    messages: tuple[str, ...]
    headline: tuple[str, ...] = ()  # what was gained, region by region
    shortened: str = ""  # what was left out to keep the page small
    slave: tuple[CodeLine, ...] = ()  # the other file of a core group
