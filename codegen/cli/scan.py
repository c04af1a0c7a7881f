"""`tilewright scan`: reports on every loop nest of the C and C++ files below some paths, with the flags of their
build's compile_commands.json: what would gain by `gen --auto`, and what stands in the way. No source is changed."""
from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace

from codegen.cli import exitcodes
from codegen.cli.cc.database import all_flags, database_path
from codegen.cli.job import Invocation, Outcome, gen_options
from codegen.cli.output.progress import Line
from codegen.diagnostics import InputError, Loc
from codegen.options import CppOptions, GenOptions
from codegen.record import record
from codegen.report.scan import FileScan, page, scan_file, summary, text_report
from codegen.source.language import HEADERS, ending_of
from codegen.source.write import GENERATED, near, write_if_changed

DATABASE = "compile_commands.json"


@record
class _File:
    """A file to read, and how."""

    path: str
    options: GenOptions


def run(job: Invocation) -> Outcome:
    """The report goes to standard output, and as a page to the file of --html."""
    a = job.arguments
    files = _files(a)
    if not files:
        raise InputError("no-sources", "there are no C or C++ files to scan", Loc(a.paths[0]),
                         "name folders, or files that end in .c or .cpp; -p names the compile_commands.json of a build")
    line = Line(a)
    try:
        scans = _scanned(files, a.jobs or len(os.sched_getaffinity(0)), line)
    finally:
        line.end()
    scans = _with_profile(scans, a.profile)
    if a.html:
        write_if_changed(a.html, page(scans))
    text = json.dumps(summary(scans), indent=2) + "\n" if a.format == "json" else text_report(scans)
    return Outcome(exitcodes.OK, text)


def _with_profile(scans: Sequence[FileScan], profiles: Sequence[str]) -> list[FileScan]:
    if not profiles:
        return list(scans)
    from codegen.report.profile import read_profiles, with_shares

    profile = read_profiles(profiles)
    return [replace(s, rows=with_shares(s.rows, profile)) for s in scans]


def _files(a: argparse.Namespace) -> list[_File]:
    """The C files below the paths, each once: those of the build where there is a database, else all."""
    fixed = {"file": "", "no_cpp": False, "auto": True, "database": None}
    base = gen_options(argparse.Namespace(**vars(a) | fixed), None)
    found: dict[str, _File] = {}
    for path in a.paths:
        if not os.path.exists(path):
            raise InputError("cannot-read", f"there is no {path}", Loc(path), near(path))
        database = _database(a, path)
        flags = all_flags(database) if database else {}
        for file in _below(path, flags):
            found.setdefault(os.path.realpath(file), _File(file, _with_flags(base, flags.get(os.path.realpath(file)))))
    return [found[k] for k in sorted(found)]


def _database(a: argparse.Namespace, path: str) -> str:
    if a.database:
        return database_path(a.database)
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    names = (os.path.join(folder, DATABASE), os.path.join(folder, "build", DATABASE))
    return next((n for n in names if os.path.isfile(n)), "")


def _below(path: str, flags: dict[str, CppOptions]) -> Iterator[str]:
    """C and C++ files that the tool did not write, in hidden folders none."""
    if not os.path.isdir(path):
        yield path
        return
    inside = [f for f in sorted(flags) if f.startswith(os.path.join(os.path.realpath(path), "")) and os.path.isfile(f)]
    if inside:
        yield from (os.path.join(path, os.path.relpath(f, os.path.realpath(path))) for f in inside)
        return
    for folder, inner, names in os.walk(path):
        inner[:] = sorted(n for n in inner if not n.startswith("."))
        for name in sorted(names):
            file = os.path.join(folder, name)
            if ending_of(name) and not name.endswith(HEADERS) and os.path.isfile(file) and not _generated(file):
                yield file


def _generated(file: str) -> bool:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return GENERATED in stream.read(2000)
    except OSError:
        return False


def _with_flags(base: GenOptions, flags: CppOptions | None) -> GenOptions:
    """The build's flags first, so that the command line's own count."""
    if flags is None:
        return base
    args = (*flags.args, *base.cpp.args)
    return replace(base, cpp=replace(flags, command=base.cpp.command or flags.command, args=args))


def _scanned(files: Sequence[_File], jobs: int, line: Line) -> list[FileScan]:
    """All files, several at a time, in their order."""
    done: dict[str, FileScan] = {}
    if min(jobs, len(files)) == 1:
        for k, f in enumerate(files):
            line.say(f"scan: {k + 1} of {len(files)}, {f.path}")
            done[f.path] = scan_file(f.path, f.options)
        return [done[f.path] for f in files]
    with ProcessPoolExecutor(min(jobs, len(files))) as pool:
        waiting = {pool.submit(scan_file, f.path, f.options): f.path for f in files}
        for k, ready in enumerate(as_completed(waiting)):
            path = waiting[ready]
            line.say(f"scan: {k + 1} of {len(files)}, {path}")
            done[path] = ready.result()
    return [done[f.path] for f in files]


