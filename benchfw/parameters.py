"""What parameters a factory takes: their types, ranges and meanings, and whether a suite's value fits one."""

from __future__ import annotations

import ast
import collections.abc
import functools
import inspect
import itertools
import linecache
import math
import re
import sys
import textwrap
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from benchfw.errors import PluginError

F = TypeVar("F", bound=Callable[..., Any])

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Range:
    """Which finite numbers a parameter takes, written in its type: `Annotated[int, Range(least=2)]`."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    multiple_of: int = 1

    def __post_init__(self) -> None:
        for name in ("least", "above", "most", "below"):
            end = getattr(self, name)
            if end is not None and (not isinstance(end, int | float) or math.isnan(end)):
                raise PluginError(f"{name} of Range must be a number, got {end!r}")
        if type(self.multiple_of) is not int or self.multiple_of < 1:
            raise PluginError(f"multiple_of of Range must be a whole number from 1, got {self.multiple_of!r}")
        ends = [each for each in (self.most, self.below) if each is not None]
        if ends and any(each is not None and each > min(ends) for each in (self.least, self.above)):
            raise PluginError(f"Range has no number in it: {self}")

    def __contains__(self, value: float) -> bool:
        return (
            abs(value) <= sys.float_info.max  # false for NaN, and no error for a very long whole number
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
            and (self.multiple_of == 1 or value % self.multiple_of == 0)
        )

    def __str__(self) -> str:
        if self == Range(above=0):
            return "positive"
        if self.least is not None and self.most is not None:
            return f"from {self.least:g} to {self.most:g}"
        words = {"at least": self.least, "above": self.above, "at most": self.most, "below": self.below}
        words["a multiple of"] = None if self.multiple_of == 1 else self.multiple_of
        return " and ".join(f"{word} {end:g}" for word, end in words.items() if end is not None) or "finite"


Positive: TypeAlias = Annotated[float, Range(above=0)]
"""A number above 0."""
NonNegative: TypeAlias = Annotated[float, Range(least=0)]
"""A number from 0."""
Fraction: TypeAlias = Annotated[float, Range(least=0, most=1)]
"""A number from 0 to 1, both included."""
Count: TypeAlias = Annotated[int, Range(least=1)]
"""A whole number from 1."""

NAMES_DATASET = "names a data set"
DatasetName: TypeAlias = Annotated[str, NAMES_DATASET]
"""A data set by name; a run first makes sure that it is here."""

NAMES_PATH = "names a file or a folder"
LocalPath: TypeAlias = Annotated[str, NAMES_PATH]
"""A file or a folder; one that is not absolute counts from the folder of the suite."""

NAMES_CODE = "names code"
CodePlace: TypeAlias = Annotated[str, NAMES_CODE]
"""Code by its place, "module:attribute" or "file.py:attribute". What somebody else's store or bundle names is
loaded only if it is given by --plugin."""
CodeFolder: TypeAlias = Annotated[str, NAMES_PATH, NAMES_CODE]
"""A folder of code, which counts as a `LocalPath` and as a `CodePlace`."""


@dataclass(frozen=True)
class Trusted:
    r"""Which places of code do no harm whatever arguments they get, and so need not be given by --plugin.

    A regular expression of the whole, written in a type: `Annotated[CodePlace, Trusted(r"torch\.nn:\w+")]`.
    """

    pattern: str


@dataclass(frozen=True)
class Parameter:
    """One parameter of a plugin: its name, its type as written, and its default."""

    name: str
    hint: Any
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        """Whether a suite must give it."""
        return self.default is REQUIRED

    @property
    def names_dataset(self) -> bool:
        """Whether its type says that it names a data set."""
        return any(NAMES_DATASET in typing.get_args(each) for each in _options(self.hint))

    @property
    def names_path(self) -> bool:
        """Whether its type says that it names a file or a folder."""
        return any(NAMES_PATH in typing.get_args(each) for each in _options(self.hint))

    @property
    def names_code(self) -> bool:
        """Whether its type says that it names code."""
        return NAMES_CODE in _notes(self.hint)

    def trusts(self, place: str) -> bool:
        """Return whether code at a place may be loaded for somebody else's store without further ado."""
        patterns = [note.pattern for note in _notes(self.hint) if isinstance(note, Trusted)]
        return place == self.default or any(re.fullmatch(each, place) for each in patterns)

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name} = {self.default!r}"


def cached_while_alive(function: F) -> F:
    """Cache what a function says of its first argument, for as long as somebody else has that object.

    A class or a function of a module stays; an object of a session may hold all the data of a problem.
    """
    known: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def cached(subject: Any, *arguments: Any, **options: Any) -> Any:
        kept = known.setdefault(subject, {})
        key = arguments, *options.items()
        if key not in kept:
            kept[key] = function(subject, *arguments, **options)
        return kept[key]

    return cast("F", cached)


@cached_while_alive
def parameters_of(factory: Callable[..., Any], hidden: int = 0) -> Mapping[str, Parameter]:
    """Return the parameters of a factory by name, without the first few, which the harness fills in."""
    hints = hints_of(factory)
    taken = list(inspect.signature(factory).parameters.values())[hidden:]
    return {
        parameter.name: Parameter(parameter.name, hints.get(parameter.name, Any), parameter.default)
        for parameter in taken
        if parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    }


def fields_of(function: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> list[Any]:
    """Return some parameters of a function as the fields of a dataclass, for `dataclasses.make_dataclass`."""
    hints = hints_of(function)
    return [
        (each.name, hints.get(each.name, Any))
        if each.default is each.empty
        else (each.name, hints.get(each.name, Any), field(default=each.default))
        for each in parameters
    ]


def hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the resolved annotations of a factory's parameters; empty where they cannot be resolved."""
    target: Any = factory
    if isinstance(factory, type) and not is_dataclass(factory):
        target = factory.__init__  # type: ignore[misc]
    # of a dataclass the fields themselves: each is looked up in the module of the class that declares it
    try:
        return typing.get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):
        # annotations under TYPE_CHECKING: the value is then checked by the factory itself
        return {}


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return how a function is called: a wrapper by its own parameters, unless it passes on all others."""
    own = inspect.signature(function, follow_wrapped=False)
    passes_on = any(each.kind in {each.VAR_POSITIONAL, each.VAR_KEYWORD} for each in own.parameters.values())
    return inspect.signature(function) if passes_on else own


def accepts_any_keyword(factory: Callable[..., Any]) -> bool:
    """Return whether the factory takes **params, so that no name can be called unknown."""
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(factory).parameters.values())


SECTION = re.compile(r"^Parameters:\n(?P<lines>(?:[ \t]+\S.*\n?|\n)+)", re.MULTILINE)
LINE = re.compile(r"^(?P<name>\w+): (?P<text>.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)


@cached_while_alive
def meanings_of(factory: Callable[..., Any]) -> Mapping[str, str]:
    """Return what each parameter means, by name; a class has those of its bases too.

    It is written as a string below the field of a class, or as a line `name: …` below "Parameters:" in the
    documentation of a class, of its `__init__`, or of a function.
    """
    found: dict[str, str] = {}
    for each in reversed(factory.__mro__) if isinstance(factory, type) else (factory,):
        makers = (each, vars(each).get("__init__")) if isinstance(each, type) else (each,)
        for maker in makers:
            section = SECTION.search(inspect.cleandoc(maker.__doc__ or ""))
            lines = textwrap.dedent(section["lines"]) if section else ""
            found |= {line["name"]: " ".join(line["text"].split()) for line in LINE.finditer(lines)}
        found |= _field_meanings(each) if isinstance(each, type) else {}
    return found


def without_parameters(documentation: str) -> str:
    """Return a documentation without its "Parameters:", for where these are shown by themselves."""
    return SECTION.sub("", documentation).strip()


def _field_meanings(kind: type) -> dict[str, str]:
    body = getattr(_definition_of(kind), "body", []) if "__annotations__" in vars(kind) else []
    return {
        field.target.id: " ".join(below.value.value.split())
        for field, below in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(below.value.value, str)
    }


def _definition_of(kind: type) -> ast.AST | None:
    """Return the statement that defines a class; None of one that was typed at a prompt, say.

    `inspect.getsource` would find it too, many times slower: it takes the file to pieces in Python.
    """
    try:
        file = inspect.getsourcefile(kind)
        found: ast.AST | None = ast.parse("".join(linecache.getlines(file))) if file else None
    except (OSError, TypeError, SyntaxError):
        return None
    for name in kind.__qualname__.replace("<locals>.", "").split("."):
        inside = itertools.chain(reversed(getattr(found, "body", ())), ast.walk(found) if found else ())
        definitions = (each for each in inside if isinstance(each, ast.ClassDef | ast.FunctionDef))
        found = next((each for each in definitions if each.name == name), None)
    return found


def fits(value: Any, hint: Any) -> bool:
    """Return whether a TOML value may be passed where `hint` is expected; what is not understood fits."""
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return any(fits(value, each) for each in typing.get_args(hint))
    if origin is Annotated:
        kind, *notes = typing.get_args(hint)
        return fits(value, kind) and all(value in note for note in notes if isinstance(note, Range))
    if origin is typing.Literal:
        return any(value == each and type(value) is type(each) for each in typing.get_args(hint))
    kind = origin or hint
    if is_protocol(kind) and kind not in _PLAIN:
        return isinstance(value, Mapping) and "use" in value  # Estimator, …: built from a nested table
    legal = _PLAIN.get(kind, (object,))
    return isinstance(value, legal) and not (isinstance(value, bool) and kind in {int, float})


_PLAIN: dict[Any, tuple[type, ...]] = {
    float: (float, int),
    int: (int,),
    bool: (bool,),
    str: (str,),
    type(None): (type(None),),
    list: (list, tuple),
    tuple: (list, tuple),
    collections.abc.Sequence: (list, tuple),
    dict: (Mapping,),
    Mapping: (Mapping,),
}


def misfit(name: str, value: Any, hint: Any) -> str:
    """Return what is wrong with a value that does not fit: `step must be positive, got -1`."""
    words = describe_type(hint)
    if isinstance(value, float) and not math.isfinite(value) and "finite" not in words:
        words += " and finite"
    return f"{name} must be {words}, got {value!r}"


def widen_int(value: Any, hint: Any) -> Any:
    """Return a whole number as a float where only a float is meant: `step = 1` is `step = 1.0`."""
    kinds = {typing.get_args(each)[0] if _is_annotated(each) else each for each in _options(hint)}
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and float in kinds and int not in kinds else value


def describe_type(hint: Any) -> str:
    """Return a type as a person would write it: `positive or 'auto'`, `a whole number from 1`."""
    options = _options(hint)
    if len(options) > 1:
        return " or ".join(describe_type(each) for each in options)
    if _is_annotated(hint):
        return _describe_annotated(*typing.get_args(hint))
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(repr(each) for each in typing.get_args(hint))
    if hint is type(None):
        return "nothing"
    if is_protocol(hint):
        return f"a table with 'use' ({hint.__name__})"
    return getattr(hint, "__name__", str(hint))


def _describe_annotated(kind: Any, *notes: Any) -> str:
    ranges = " and ".join(str(note) for note in notes if isinstance(note, Range))
    if ranges and kind is int:
        return f"a whole number {ranges.replace('at least', 'from')}"
    named = {NAMES_DATASET: "the name of a data set", NAMES_PATH: "a path", NAMES_CODE: "the place of code"}
    return ranges or next((named[note] for note in notes if note in named), "") or describe_type(kind)


def is_protocol(kind: Any) -> bool:
    """Return whether a type is a protocol itself, not a class that follows one."""
    return bool(getattr(kind, "_is_protocol", False))  # typing has no public way before Python 3.13


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in {typing.Union, types.UnionType} else (hint,)


def _notes(hint: Any) -> list[Any]:
    """Return the notes of a type and of all in it: of `list[CodePlace]` too."""
    inside = [note for each in typing.get_args(hint) for note in _notes(each)]
    return [*getattr(hint, "__metadata__", ()), *inside]


def _is_annotated(hint: Any) -> bool:
    return typing.get_origin(hint) is Annotated
