"""Tunes a file on another host: `pack` puts the file, its headers, options and known records into one parcel;
`tune_parcel` tunes it there in a new process (this module as a program), and returns the result and new records."""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codegen.diagnostics import TilewrightError
from codegen.limits import HOUR, PROGRAM, run
from codegen.options import GenOptions
from codegen.record import record
from codegen.tune.plans.settings import Settings, TunedFile

_RECORDS = "records.jsonl"


@record
class Parcel:
    """A file to tune. `headers` are what it includes by relative names; others must be there where it is tuned.
    `records` are the lines known so far."""

    name: str
    text: str
    options: GenOptions
    settings: Settings
    headers: Mapping[str, bytes]
    records: bytes = b""


@record
class Answer:
    """What came of it, and the new lines of records."""

    result: TunedFile | TilewrightError
    records: bytes = b""


def pack(name: str, text: str, options: GenOptions, settings: Settings) -> Parcel:
    """A file with the headers it needs. InputError when the preprocessor does not get through it."""
    from codegen.source_file import open_source

    found: dict[str, bytes] = {}
    for path in open_source(name, text, options).deps:
        if not os.path.isabs(path):
            found[path] = Path(path).read_bytes()
    known = Path(settings.records).read_bytes() if settings.records and os.path.exists(settings.records) else b""
    return Parcel(name, text, options, settings, found, known)


TUNER = replace(PROGRAM, cpu=24 * HOUR, wall=24 * HOUR)  # its budget is its own affair


def tune_parcel(parcel: Parcel) -> Answer:
    """Run where the parcel has arrived. A new process: analyses fork, which a worker's threads would not survive."""
    done = run([sys.executable, "-m", "codegen.tune.remote"], TUNER, pickle.dumps(parcel))
    if done.code or not done.out:
        last = done.err.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(last[-1] if last else f"the tuner ended with status {done.code}")
    answer = pickle.loads(done.out)
    assert isinstance(answer, Answer)
    return answer


def _unpack(parcel: Parcel, root: Path) -> Path:
    """The folder to work in, deep enough for names that lead upwards."""
    names = [parcel.name, *parcel.headers]
    up = max(os.path.normpath(n).split(os.sep).count(os.pardir) for n in names)
    folder = root.joinpath(*(["up"] * up), "work")
    folder.mkdir(parents=True)
    for name, data in parcel.headers.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if not os.path.isabs(parcel.name):
        (folder / parcel.name).parent.mkdir(parents=True, exist_ok=True)
    (folder / _RECORDS).write_bytes(parcel.records)
    return folder


def _tuned(parcel: Parcel) -> Answer:
    from codegen.tune.file import tune_file

    settings = replace(parcel.settings, records=_RECORDS if parcel.settings.records else "")
    try:
        result: TunedFile | TilewrightError = tune_file(parcel.name, parcel.text, parcel.options, settings, _silent)
    except TilewrightError as error:
        result = error
    return Answer(result, Path(_RECORDS).read_bytes()[len(parcel.records) :])


def _silent(line: str) -> None:
    return None


def main() -> None:
    """A pickled parcel on standard input; a pickled answer on standard output, and nothing else there."""
    out = os.dup(1)
    os.dup2(2, 1)
    parcel = pickle.loads(sys.stdin.buffer.read())
    with tempfile.TemporaryDirectory(prefix="tilewright-") as root:
        os.chdir(_unpack(parcel, Path(root)))
        answer = _tuned(parcel)
        os.chdir("/")
    with os.fdopen(out, "wb") as stream:
        stream.write(pickle.dumps(answer))


if __name__ == "__main__":
    from codegen.tune import remote

    remote.main()  # under the module's own name, which the classes of answers are found by
