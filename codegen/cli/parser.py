"""argparse, built from the option table for one subcommand at a time."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from codegen.cli.argv import BadCommandLine
from codegen.cli.commands import Subcommand
from codegen.cli.options import GROUPS, Option, options_of

_EPILOG = "Exit codes: 0 done, 1 bad input, 2 bad command line, 3 region refused under --strict, " \
          "4 check found a difference, 70 internal error."


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        if message.endswith("expected one argument"):
            option = message.removeprefix("argument ").partition(":")[0].split("/")[0]
            joined = f"`{option}=...`" if option.startswith("--") else f"`{option}...`"
            message += f"; a value that begins with `-` is joined to the option, as in {joined}"
        raise BadCommandLine(message)


class _CppAction(argparse.Action):
    """Collects -I, -D, -include and the like in one list, because their order matters to the preprocessor."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: str | Sequence[Any] | None, option_string: str | None = None) -> None:
        flag = self.option_strings[0]
        glue = "=" if flag == "-std" else "" if len(flag) == 2 else None
        words = [flag, str(values)] if glue is None else [f"{flag}{glue}{values}"]
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *words])


class _LastAction(argparse.Action):
    """Keeps the last word, as compilers do, and in `overridden` what was said before it and is lost."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: str | Sequence[Any] | None, option_string: str | None = None) -> None:
        given = getattr(namespace, "given", {})
        if given.get(self.dest, values) != values:
            lost = (option_string or self.option_strings[0], str(given[self.dest]), str(values))
            namespace.overridden = [*getattr(namespace, "overridden", ()), lost]
        namespace.given = {**given, self.dest: values}
        setattr(namespace, self.dest, values)


def build(command: Subcommand) -> argparse.ArgumentParser:
    """The parser of one subcommand."""
    parser = _Parser(
        prog=f"tilewright {command.name}", description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        epilog=_EPILOG, allow_abbrev=False,
    )
    for p in command.positionals:
        nargs = "?" if p.optional else "+" if p.many else None
        parser.add_argument(p.name, metavar=p.metavar, help=p.help, choices=p.choices or None, nargs=nargs)
    groups = {name: parser.add_argument_group(title) for name, title in GROUPS.items()}
    for option in options_of(command.name):
        _add(groups[option.group], option)
    return parser


def _converter(option: Option) -> Callable[[str], Any]:
    """How an option's word is read; complaints say what it should be, which is the first sentence about the reader."""
    read = option.type
    if read is None:
        return str

    def convert(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            wanted = (read.__doc__ or "One that fits.").partition(".")[0]
            wanted = wanted[0].lower() + wanted[1:] if wanted[:2].istitle() or wanted[1:2] == " " else wanted
            raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}") from None

    return convert


def _add(group: argparse._ArgumentGroup, option: Option) -> None:
    common: dict[str, Any] = {"dest": option.name, "help": option.help.replace("%", "%%")}
    if option.kind == "flag":
        group.add_argument(*option.flags, action="store_true", **common)
    elif option.kind == "cpp":
        group.add_argument(*option.flags, action=_CppAction, metavar=option.metavar, default=[], **common)
    elif option.kind == "list":
        group.add_argument(*option.flags, action="append", metavar=option.metavar, type=_converter(option),
                           default=[], **common)
    else:
        if option.default not in (None, ""):
            common["help"] += f" (default: {option.default})"
        group.add_argument(*option.flags, action=_LastAction, metavar=option.metavar or None, type=_converter(option),
                           choices=(not option.open and option.choices) or None, default=option.default, **common)


def parse(command: Subcommand, words: list[str]) -> argparse.Namespace:
    """The parsed command line; BadCommandLine with a suggestion for an unknown option."""
    namespace, extra = build(command).parse_known_args(words)
    for many in (p.name for p in command.positionals if p.many):  # argparse takes those of one place only
        setattr(namespace, many, [*getattr(namespace, many), *(w for w in extra if w == "-" or w[:1] != "-")])
        extra = [w for w in extra if w != "-" and w[:1] == "-"]
    if extra:
        raise BadCommandLine(_unknown(command, extra[0]))
    return namespace


def _unknown(command: Subcommand, word: str) -> str:
    if not word.startswith("-"):
        return f"unexpected argument '{word}'"
    import difflib  # only then: start-up time counts in a build

    bare, options = word.split("=")[0].lstrip("-"), options_of(command.name)
    chosen = [f"{o.flags[0]} {bare}" for o in options if bare in (o.choices or ())]
    known = {f.lstrip("-"): f for o in options for f in o.flags}
    close = chosen or [known[n] for n in difflib.get_close_matches(bare, known, n=1, cutoff=0.7)]
    return f"unknown option '{word}'" + (f"; did you mean '{close[0]}'?" if close else "")
