"""Answers one request of the page that `serve` shows (`answer`): C and options in, what `gen` makes of it out, as plain
values. Runs in a child with limits; problems become messages."""
from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from codegen.children.worker import Died, run_limited
from codegen.diagnostics import Diagnostic, InputError, InternalError, Loc, Severity, TilewrightError
from codegen.isa.known import ISAS
from codegen.limits import MIB, LimitPassed, Limits
from codegen.machine import names
from codegen.options import FUSIONS, CppOptions, GenOptions
from codegen.serve.confine import Confined, confine
from codegen.source.language import C, compiler_for
from codegen.targets.registry import DEFAULT, target_named, target_names

NAME = "page.c"
MOST = 200_000  # characters of C and of a plan together
LIMITS = Limits(cpu=30, memory=2048 * MIB, wall=60)
FLAGS = ("reassociate", "assume_no_alias", "check_alias")


def choices() -> dict[str, list[str]]:
    """What the page offers."""
    targets = sorted(target_names(), key=lambda name: name != DEFAULT)
    return {"target": targets, "machine": [*names(), "native"], "isa": ["", *ISAS], "fusion": list(FUSIONS)}


def options_of(given: Mapping[str, Any]) -> GenOptions:
    """Only names that the page offers; nothing here can be a path."""
    known = choices()
    values: dict[str, Any] = {}
    for key, allowed in known.items():
        if key in given:
            if text_of(given, key) not in allowed:
                raise InputError("not-here", f"`{given[key]}` is no {key} of this page", Loc("options"))
            values[key] = given[key]
    for flag in FLAGS:
        values[flag] = bool(given.get(flag, False))
    plan = text_of(given, "plan").strip()
    return GenOptions(**values, context=text_of(given, "context"), plan_text=f"{plan}\n" if plan else None,
                      plan_name="plan", timeout=10.0, stem="page", cpp=CppOptions(confined=True))


def source_of(given: Mapping[str, Any]) -> str:
    """The C of a request, which may be so long and no longer."""
    text = text_of(given, "source")
    if len(text) + len(text_of(given, "plan")) + len(text_of(given, "context")) > MOST:
        raise InputError("not-here", f"more than {MOST:,} characters", Loc(NAME), "use the command for large files")
    return text


def text_of(given: Mapping[str, Any], key: str) -> str:
    """A text of a request; InputError for what is none. Halves of characters can be sent in JSON, and are no text."""
    text = given.get(key, "")
    if not isinstance(text, str) or any("\ud800" <= c <= "\udfff" for c in text):
        raise InputError("not-here", f"`{key}` is no text", Loc("options"), "send a string of whole characters")
    return text


def answer(given: Mapping[str, Any], limits: Limits = LIMITS) -> dict[str, Any]:
    """What the page shows; problems are messages, never exceptions."""
    start = time.monotonic()
    try:
        text, options = source_of(given), options_of(given)
        made = run_limited(lambda: _generated(text, options), limits)
    except TilewrightError as error:
        made = {"ok": False, "messages": [_message(error.diagnostic())]}
    except (LimitPassed, Died) as error:
        why = str(error) or "crashed"
        made = {"ok": False, "messages": [_plain(f"the generator {why}")]}
    except RecursionError:
        made = {"ok": False, "messages": [_plain("the text is nested too deeply")]}
    except Confined as error:
        made = {"ok": False, "messages": [_plain(f"the text names a file or a program, which is {error.strerror}")]}
    except Exception as error:  # a fault of the tool; the page says so, and the server goes on
        made = {"ok": False, "messages": [_message(_internal(error).diagnostic())]}
    return {**made, "seconds": round(time.monotonic() - start, 3)}


def _generated(text: str, options: GenOptions) -> dict[str, Any]:
    from codegen.pipeline import generate
    from codegen.report.html.highlight import highlight
    from codegen.report.html.panes import hue_of

    confine((compiler_for(C) or [""])[0])
    made = generate(NAME, text, options)
    files, endings = {"page.c": made.text}, target_named(options.target).endings["c"]
    files |= {f"page{ending}": body for ending, body in made.extra.files if ending in endings}
    return {
        "ok": True,
        "files": [{"name": name, "pieces": [list(p) for p in highlight(body)]} for name, body in files.items()],
        "plan": made.plan,
        "regions": [
            {"index": r.index, "line": r.line, "transformed": r.transformed, "summary": r.summary,
             "links": [[line, stmt, hue_of(stmt)] for line, stmt in r.links],
             "lines": [[line, stmt, hue_of(stmt)] for line, stmt in r.lines]}
            for r in made.regions
        ],
        "messages": [_message(d) for d in made.diagnostics],
    }


def _message(d: Diagnostic) -> dict[str, Any]:
    return {
        "severity": d.severity.value, "id": d.id, "text": d.message, "line": d.loc.line, "file": d.loc.file,
        "hint": d.hint, "kind": d.kind, "notes": [_message(n) for n in d.notes],
    }


def _internal(error: Exception) -> InternalError:
    return InternalError("internal-error", f"internal error: {type(error).__name__}", Loc(NAME), "report it")


def _plain(text: str) -> dict[str, Any]:
    return _message(Diagnostic(Severity.ERROR, "limit-passed", text, Loc(NAME)))
