"""What compiled templates call while they print, in place of `jinja2.runtime`: to import jinja2 takes a twentieth of a
run, and only compiling needs it (`compiled.py`). It holds for text that is not escaped; a name that nobody gave is an
error, as with jinja2's StrictUndefined. Filters and tests are
plain functions of values; what else a template may ask for, who compiles it checks (`plain.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NoReturn


class _Missing:
    """No value: of a name that was not given, or an argument."""


missing: Any = _Missing()
concat = "".join


class UndefinedName(LookupError):
    """A template uses a name or an attribute that is not there."""


class Undefined:
    """What `x if condition` without `else` is when the condition does not hold: nothing, as text."""

    def __init__(self, hint: str = "", obj: object = missing, name: str = "") -> None:
        self._why = hint or (f"'{name}' is undefined" if obj is missing else f"{type(obj).__name__} has no '{name}'")

    def __str__(self) -> str:
        return ""

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> NoReturn:
        if name[:2] == "__":
            raise AttributeError(name)
        raise UndefinedName(self._why)

    def _fail(self, *_: object) -> NoReturn:
        raise UndefinedName(self._why)

    __add__ = __radd__ = __sub__ = __mul__ = __mod__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = _fail
    __call__ = __int__ = __float__ = __neg__ = _fail


class StrictUndefined(Undefined):
    """A name that is not there, which can only be asked whether it is."""

    __str__ = __bool__ = __iter__ = __len__ = __contains__ = __eq__ = __ne__ = __hash__ = Undefined._fail


class TemplateRuntimeError(Exception):
    """What compiled templates raise."""


class TemplateNotFound(Exception):
    """There is no such template."""


def identity(x: Any) -> Any:
    return x


internalcode = identity
escape = str
Markup = str


def str_join(parts: Iterable[Any]) -> str:
    return concat(map(str, parts))


markup_join = str_join


class TemplateReference:
    """`self` in templates with blocks, which there are none of."""


class Namespace:
    """Names that loops may set."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.__dict__.update(dict(*given, **named))

    def __setitem__(self, name: str, value: object) -> None:
        self.__dict__[name] = value


class LoopContext:
    """`loop` in a template: where an iteration stands."""

    def __init__(self, items: Iterable[Any], undefined: object = None) -> None:
        self._items = list(items)
        self.length, self.index0 = len(self._items), -1

    def __iter__(self) -> Iterator[tuple[Any, "LoopContext"]]:
        for item in self._items:
            self.index0 += 1
            yield item, self

    @property
    def index(self) -> int:
        return self.index0 + 1

    @property
    def first(self) -> bool:
        return self.index0 == 0

    @property
    def last(self) -> bool:
        return self.index0 == self.length - 1


class Macro:
    """A macro with plain parameters; defaults are those that its own code has."""

    def __init__(self, _: object, code: Callable[..., str], name: str, parameters: tuple[str, ...], *__: bool) -> None:
        self._code, self.name, self._parameters = code, name, parameters

    def __call__(self, *values: Any, **named: Any) -> str:
        open_ones = self._parameters[len(values) :]
        if len(values) > len(self._parameters) or not named.keys() <= frozenset(open_ones):
            raise TypeError(f"macro {self.name!r} takes {self._parameters}, and gets {values} and {named}")
        return self._code(*values, *[named.get(n, missing) for n in open_ones])


class EvalContext:
    autoescape = volatile = False


class Context:
    """The names that a template sees: those given to it, and its own."""

    eval_ctx = EvalContext()

    def __init__(self, environment: "Environment", given: dict[str, Any], name: str) -> None:
        self.environment, self.parent, self.name = environment, given, name
        self.vars: dict[str, Any] = {}
        self.exported_vars: set[str] = set()

    def resolve_or_missing(self, name: str) -> Any:
        return self.vars[name] if name in self.vars else self.parent.get(name, missing)

    def get_all(self) -> dict[str, Any]:
        return {**self.parent, **self.vars}

    def call(self, what: Callable[..., Any], *values: Any, _loop_vars: object = None, **named: Any) -> Any:
        return what(*values, **named)


class TemplateModule:
    """The macros of a template."""

    def __init__(self, name: str, exported: Mapping[str, Any]) -> None:
        self.__dict__.update(exported)
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the template {self.__name__} has no {name!r}")


class PlainTemplate:
    """A compiled template; called as jinja2's."""

    def __init__(self, environment: "Environment", name: str, code: Any) -> None:
        names: dict[str, Any] = {"environment": environment}
        exec(code, names)
        self.name, self._environment = name, environment
        self.root_render_func: Callable[[Context], Iterator[str]] = names["root"]
        self._module: TemplateModule | None = None

    def render(self, *given: Any, **named: Any) -> str:
        return concat(self.root_render_func(self.new_context(dict(*given, **named))))

    def new_context(
        self, given: Mapping[str, Any], shared: bool = False, own: Mapping[str, Any] | None = None
    ) -> Context:
        there = {n: x for n, x in (own or {}).items() if x is not missing}
        return Context(self._environment, {**({} if shared else GLOBALS), **given, **there}, self.name)

    def make_module(
        self, given: Mapping[str, Any], shared: bool = False, own: Mapping[str, Any] | None = None
    ) -> TemplateModule:
        context = self.new_context(given, shared, own)
        for _ in self.root_render_func(context):
            pass
        return TemplateModule(self.name, {n: context.vars[n] for n in context.exported_vars})

    @property
    def module(self) -> TemplateModule:
        if self._module is None:
            self._module = self.make_module({})
        return self._module

    def _get_default_module(self, _: Context) -> TemplateModule:
        return self.module


class Environment:
    """What all templates share; `found` gives a template by its name."""

    undefined = StrictUndefined
    concat = staticmethod(concat)

    def __init__(self, found: Callable[[str], Any]) -> None:
        self._found = found
        self.filters, self.tests = FILTERS, TESTS

    def get_template(self, name: str, _: object = None) -> Any:
        return self._found(name)

    def getattr(self, x: Any, name: str) -> Any:
        try:
            return getattr(x, name)
        except AttributeError:
            return item_of(x, name)

    def getitem(self, x: Any, key: Any) -> Any:
        return item_of(x, key)


def item_of(x: Any, key: Any) -> Any:
    """An item, or the attribute of that name, or what says that there is neither."""
    try:
        return x[key]
    except (TypeError, LookupError, AttributeError):
        found = getattr(x, key, missing) if isinstance(key, str) else missing
        return StrictUndefined(obj=x, name=str(key)) if found is missing else found


def _joined(values: Iterable[Any], between: str = "") -> str:
    return str(between).join(map(str, values))


def _replaced(text: object, old: object, new: object) -> str:
    return str(text).replace(str(old), str(new))


def _mapped(values: Iterable[Any], *, attribute: str | int) -> Iterator[Any]:
    path = attribute.split(".") if isinstance(attribute, str) else [attribute]
    return (reduce(item_of, path, x) for x in values)


def _indented(text: str, width: int | str = 4, first: bool = False) -> str:
    """All lines but the first, and empty ones, moved to the right."""
    by = width if isinstance(width, str) else " " * width
    head, *rest = f"{text}\n".splitlines()
    return "\n".join(((by if first else "") + head, *(by + line if line else line for line in rest)))


GLOBALS: dict[str, Any] = {"range": range, "dict": dict, "namespace": Namespace}
FILTERS: dict[str, Callable[..., Any]] = {
    "indent": _indented, "int": int, "join": _joined, "length": len, "list": list, "map": _mapped, "max": max,
    "replace": _replaced, "reverse": lambda x: [*x][::-1], "select": lambda x: [*filter(None, x)],
    "string": str, "upper": lambda x: str(x).upper(),
}  # fmt: skip
TESTS: dict[str, Callable[..., bool]] = {
    "defined": lambda x: not isinstance(x, Undefined),
    "none": lambda x: x is None,
    "string": lambda x: isinstance(x, str),
}
