"""The record of a message id in the table of messages (`Entry`): its family, what it means, what to do and an example;
and the families with their titles."""

from __future__ import annotations

from codegen.record import record

REFUSAL, INPUT, WARNING, NOTE, REMARK, INTERNAL = "refusal", "error", "warning", "note", "remark", "internal"
FAMILIES = {
    REFUSAL: (
        "Refusals",
        "The region comes out as it went in, without its pragmas, with a warning; under `--strict` that is an error "
        "(exit 3).",
    ),
    INPUT: ("Errors", "Something must be mended before anything is generated (exit 1)."),
    WARNING: ("Warnings", "The output is right, but perhaps not what was meant."),
    NOTE: ("Notes", "Facts that go with other messages or that an option asked for."),
    REMARK: ("Remarks", "What was done and what was not, shown by `-Rpass`, `-Rpass-missed` and `-v`."),
    INTERNAL: ("Internal errors", "Faults of the tool itself (exit 70); nothing is written but a reproducer."),
}


@record
class Entry:
    """One id. `example` is a line or two of C, or a command, that leads to it."""

    id: str
    family: str
    meaning: str
    advice: str
    example: str = ""
