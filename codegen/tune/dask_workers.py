"""Distributes the tuning of several files over the workers of a Dask scheduler: one file at a time on every host, so
that measurements stay alone. `remote.py` is what a worker runs."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from codegen.diagnostics import InputError, Loc, TilewrightError
from codegen.options import GenOptions
from codegen.tune.plans.settings import Settings, TunedFile
from codegen.tune.records import append
from codegen.tune.remote import Answer, pack, tune_parcel

Result = TunedFile | TilewrightError
SECONDS = 10  # to reach the scheduler


def spread(
    files: Sequence[tuple[str, str, GenOptions]], settings: Settings, address: str, say: Callable[[str], None]
) -> Iterator[Result]:
    """What became of each file, in order. An interrupt gives up what is not done yet."""
    client = _connect(address)
    try:
        results = _Queue(client, files, settings, say).run()
    finally:
        client.close()
    yield from results


def _connect(address: str) -> Any:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise InputError("no-scheduler", "--scheduler needs the package `distributed`", Loc("--scheduler"),
                         "pip install 'tilewright[dask]'") from None  # fmt: skip
    try:
        return distributed.Client(address, timeout=SECONDS)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError("no-scheduler", f"cannot reach the scheduler at {address}: {why}", Loc("--scheduler"),
                         "start one with `dask scheduler`, and workers with `dask worker`") from None  # fmt: skip


class _Queue:
    """Files that wait, and the hosts that work on others."""

    def __init__(self, client: Any, files: Sequence[tuple[str, str, GenOptions]], settings: Settings,
                 say: Callable[[str], None]) -> None:  # fmt: skip
        self.client, self.files, self.settings, self.say = client, files, settings, say
        self.results: list[Result | None] = [None] * len(files)
        self.running: dict[Any, tuple[int, str]] = {}

    def run(self) -> list[Result]:
        hosts = self._hosts()
        waiting = list(range(len(self.files)))
        done = importlib.import_module("distributed").as_completed()
        try:
            while waiting or self.running:
                free = [h for h in hosts if h not in {host for _, host in self.running.values()}]
                while free and waiting:
                    self._submit(waiting.pop(0), free.pop(0), hosts, done)
                if self.running:
                    self._collect(next(done))
        except KeyboardInterrupt:
            self.client.cancel(list(self.running))
        return [r if r is not None else _interrupted(f[0]) for r, f in zip(self.results, self.files, strict=True)]

    def _hosts(self) -> dict[str, list[str]]:
        """The addresses of workers on each host."""
        found: dict[str, list[str]] = {}
        for worker, about in sorted(self.client.scheduler_info(n_workers=-1)["workers"].items()):
            found.setdefault(str(about.get("host", worker)), []).append(worker)
        if not found:
            raise InputError("no-scheduler", "the scheduler has no workers", Loc("--scheduler"),
                             "start some with `dask worker`")  # fmt: skip
        return found

    def _submit(self, k: int, host: str, hosts: dict[str, list[str]], done: Any) -> None:
        name, text, options = self.files[k]
        try:
            parcel = pack(name, text, options, self.settings)
        except TilewrightError as error:
            self.results[k] = error
            return
        self.say(f"{name}: tuned on {host}")
        future = self.client.submit(tune_parcel, parcel, workers=hosts[host][:1], pure=False)
        self.running[future] = k, host
        done.add(future)

    def _collect(self, future: Any) -> None:
        k, host = self.running.pop(future)
        name = self.files[k][0]
        try:
            answer = future.result()
        except Exception as error:  # whatever happens on a worker is about one file
            self.results[k] = InputError("worker-failed", f"the worker on {host} failed: {error}", Loc(name))
            return
        assert isinstance(answer, Answer)
        if answer.records and self.settings.records:
            append(self.settings.records, answer.records.decode("utf-8", "replace"))
        self.results[k] = answer.result
        self.say(f"{name}: done")


def _interrupted(name: str) -> TilewrightError:
    return InputError("interrupted", "interrupted before it was tuned", Loc(name))
