"""Completion for bash, zsh and fish, from the tables of commands and options."""
from __future__ import annotations

from codegen.cli.commands import COMMANDS, Subcommand
from codegen.cli.options import Option, options_of
from codegen.cli.shell.printing import PRINTS

SHELLS = ("bash", "zsh", "fish")


def completion(shell: str) -> str:
    """The script that teaches a shell the command's words."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _flags(command: Subcommand) -> list[str]:
    return [f for o in options_of(command.name) for f in o.flags] + ["--help"]


def _choices(command: Subcommand) -> tuple[str, ...]:
    """Words that a command's first argument may be."""
    return command.positionals[0].choices if command.positionals else ()


def _first_words() -> list[str]:
    return [*(c.name for c in COMMANDS), *(p.flag for p in PRINTS), "--help", "--version"]


def _values(command: Subcommand) -> list[tuple[str, tuple[str, ...]]]:
    """Options of the command that take one of a few words; a flag with a free value has none."""
    return [(f, o.choices) for o in options_of(command.name) if o.kind == "value" and o.choices for f in o.flags]


def _bash() -> str:
    cases = []
    for c in COMMANDS:
        values = "".join(f"        {f}) words='{' '.join(w)}' ;;\n" for f, w in _values(c))
        options = " ".join(_flags(c))
        cases.append(
            f"    {c.name})\n      case $before in\n{values}"
            f"        *) if [[ $word == -* ]]; then words='{options}'; else words='{' '.join(_choices(c))}'; fi ;;\n"
            f"      esac ;;\n"
        )
    prints = "".join(f"    {p.flag}) words='{' '.join(p.choices)}' ;;\n" for p in PRINTS if p.choices)
    return f"""\
# bash completion for tilewright
_tilewright() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=
  case $COMP_CWORD:${{COMP_WORDS[1]}} in
    1:*) words='{' '.join(_first_words())}' ;;
  esac
  [ "$COMP_CWORD" -gt 1 ] && case ${{COMP_WORDS[1]}} in
{"".join(cases)}{prints}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _tilewright tilewright
"""


def _zsh() -> str:
    commands = "".join(f"    {_quoted(f'{c.name}:{c.summary}')}\n" for c in COMMANDS)
    cases = []
    for c in COMMANDS:
        specs = [_zsh_option(o, f) for o in options_of(c.name) for f in o.flags]
        choices = _choices(c)
        rest = f"'1:what:({' '.join(choices)})' '*:file:_files'" if choices else "'*:file:_files'"
        lines = "".join(f"      {spec} \\\n" for spec in specs)
        cases.append(f"    {c.name}) _arguments \\\n{lines}      {rest} ;;\n")
    prints = "".join(f"    {p.flag}) compadd {' '.join(p.choices)} ;;\n" for p in PRINTS if p.choices)
    flags = " ".join([*(p.flag for p in PRINTS), "--help", "--version"])
    return f"""\
#compdef tilewright
_tilewright() {{
  local -a commands
  commands=(
{commands}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    compadd -- {flags}
    return
  fi
  local first=$words[2]
  shift words
  (( CURRENT-- ))
  case $first in
{"".join(cases)}{prints}  esac
}}
_tilewright "$@"
"""


def _zsh_option(option: Option, flag: str) -> str:
    text = option.help
    for special in "[]:":
        text = text.replace(special, f"\\{special}")
    if option.kind == "flag":
        return _quoted(f"{flag}[{text}]")
    value = f"({' '.join(option.choices)})" if option.choices else "_files"
    joined = "-" if flag == "-W" else "=-" if flag.startswith("-Rpass") else "+" if len(flag) == 2 else "="
    joined = "" if flag in ("-MF", "-MT", "-include") else joined
    return _quoted(f"{'*' if option.kind in ('list', 'cpp') else ''}{flag}{joined}[{text}]:value:{value}")


def _fish() -> str:
    lines = ["# fish completion for tilewright"]
    none = "not __fish_seen_subcommand_from " + " ".join(c.name for c in COMMANDS)
    lines += [f"complete -c tilewright -n '{none}' -f -a {c.name} -d {_quoted(c.summary)}" for c in COMMANDS]
    for p in PRINTS:
        extra = f" -x -a '{' '.join(p.choices)}'" if p.choices else ""
        lines.append(f"complete -c tilewright -n '{none}' -l {p.flag[2:]}{extra} -d {_quoted(p.help)}")
    for c in COMMANDS:
        seen = f"-n '__fish_seen_subcommand_from {c.name}'"
        if _choices(c):
            lines.append(f"complete -c tilewright {seen} -f -a '{' '.join(_choices(c))}'")
        for o in options_of(c.name):
            names = " ".join(_fish_flag(f) for f in o.flags)
            given = f" {'-r' if o.open else '-x'} -a '{' '.join(o.choices)}'" if o.choices else " -r"
            value = "" if o.kind == "flag" else given
            lines.append(f"complete -c tilewright {seen} {names}{value} -d {_quoted(o.help)}")
    return "\n".join(lines) + "\n"


def _fish_flag(flag: str) -> str:
    """-s for one letter, -o for old-style words with one hyphen, -l for two."""
    return f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" if len(flag) == 2 else f"-o {flag[1:]}"


def _quoted(text: str) -> str:
    """In single quotes as bash and zsh read them; none of our texts holds a backslash before a quote."""
    return "'" + text.replace("'", "'\\''") + "'"
