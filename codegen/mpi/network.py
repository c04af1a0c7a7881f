"""The `Network` record (latency and bandwidth), read from TOML for `--network`: a built-in name or a file; InputError
for others. Also constants for time estimates and distributions: seconds of an iteration, steps of a panel, blocks for
each rank."""

from __future__ import annotations

import sys
from importlib import resources

from codegen.diagnostics import InputError, Loc
from codegen.record import record

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What one iteration of a statement takes, in seconds: about one operation of memory each way.
ITERATION = 0.5e-9
# Of one exchange: messages to both sides, and ranks that are not quite even.
MESSAGES = 4
# Of the time of a step in tiles over time: what a step takes that brings all its data from memory.
PLAIN = 2
# Blocks for each rank where they are dealt out in turn: the last rank to have one left is an eighth behind at most.
DEALT = 8
# Steps of a product that are computed with one panel: as many as kernels take at once, about.
PANEL = 256
# Arrays in panels of one phase, at most.
PANEL_ARRAYS = 8


@record
class Network:
    """`latency` in seconds, `bandwidth` of a node in bytes per second. With `one_node` all ranks are on one machine:
    they share its memory, and messages are copies that their cores make, each with this bandwidth."""

    name: str
    description: str
    latency: float
    bandwidth: float
    one_node: bool = False


def network_names() -> tuple[str, ...]:
    """Those that are built in."""
    folder = resources.files("codegen.mpi") / "data"
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml")))


def load_network(spec: str) -> Network:
    """A built-in one by its name, or one that a file describes. Raises InputError."""
    try:
        if spec in network_names():
            text = (resources.files("codegen.mpi") / "data" / f"{spec}.toml").read_text(encoding="utf-8")
        else:
            with open(spec, encoding="utf-8") as stream:
                text = stream.read()
        found = tomllib.loads(text)
    except OSError:
        hint = f"known networks: {', '.join(network_names())}; or a TOML file"
        raise InputError("bad-network", f"there is no network '{spec}'", Loc("--network"), hint) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError("bad-network", f"not TOML: {error}", Loc(spec)) from None
    for key, kinds in (("name", (str,)), ("latency", (int, float)), ("bandwidth", (int, float))):
        value = found.get(key)
        if not isinstance(value, kinds) or isinstance(value, bool) or (not isinstance(value, str) and value <= 0):
            what = "a string" if kinds == (str,) else "a positive number"
            raise InputError("bad-network", f"'{key}' must be {what}", Loc(spec), "latency in s, bandwidth in bytes/s")
    about = str(found.get("description", ""))
    one = found.get("one_node", False) is True
    return Network(found["name"], about, float(found["latency"]), float(found["bandwidth"]), one)
