"""The jinja2 environment over `templates/`; jinja2 is imported late, since it costs start-up time. Run as a program,
compiles all templates and tables ahead of time, and keeps what makes a start quick."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from codegen.resources import data_dir, templates_dir, toml
from codegen.startup import modules, regexes

if TYPE_CHECKING:
    import jinja2


@lru_cache(maxsize=1)
def environment() -> "jinja2.Environment":
    import jinja2

    from codegen.print.compiled import Compiled

    folder = templates_dir()
    loader = jinja2.FileSystemLoader(str(folder))
    escape = jinja2.select_autoescape(("html.j2",), default_for_string=False)  # pages for browsers, and nothing else
    return jinja2.Environment(
        loader=loader,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=escape,
        bytecode_cache=Compiled(folder),
    )


def compile_all() -> None:
    """Compile every template and table, also where Python was told not to write bytecode on its own."""
    from codegen.print.compiled import Compiled

    templates = environment()
    assert isinstance(templates.bytecode_cache, Compiled)
    templates.bytecode_cache.write = True
    for name in templates.list_templates(extensions=("j2",)):
        templates.get_template(name)
    for room in ("isa", "machine"):
        for file in sorted(data_dir(room).rglob("*.toml")):
            toml(file, keep=True)


if __name__ == "__main__":
    regexes.use()
    compile_all()
    regexes.keep()
    modules.keep()
