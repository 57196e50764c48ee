"""Arrays that all problems made by one factory share, so that a method could change them for good."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.parameters import cached_while_alive

MOST_SHARED = 1 << 26  # bytes of an array that is copied to see whether a method writes into it

MOST_SEEN = 10_000  # objects: a global may be a list of a million
WRAPPERS = (functools.partial, functools.cached_property, MethodType, staticmethod, classmethod, property)
WRAPPED = ("func", "args", "keywords", "__func__", "__self__", "fget")


@cached_while_alive
def shared_arrays(factory: Callable[..., Any]) -> tuple[NDArray[Any], ...]:
    """Return the arrays that a problem's code refers to.

    They are those of its classes and functions: attributes, globals that the code names, closures, defaults.
    An object of a session is copied for each trial, but its code is not.
    """
    given = getattr(factory, "given", factory)
    members = () if isinstance(given, type | FunctionType) else getattr(given, "__dict__", {}).values()
    roots = [_code_of(each) for each in (given, *filter(callable, members))]
    return tuple(each for each in _reach(roots) if isinstance(each, np.ndarray) and _can_be_changed(each))


def _code_of(found: Any) -> Any:
    """Return the class or the function whose code runs where an object is called."""
    if isinstance(found, functools.partial):
        return _code_of(found.func)
    if isinstance(found, MethodType):
        return found.__func__
    return found if isinstance(found, type | FunctionType) else type(found)


def _can_be_changed(array: NDArray[Any]) -> bool:
    return array.flags.writeable and not array.dtype.hasobject and array.nbytes <= MOST_SHARED


def _reach(roots: list[Any]) -> Iterator[Any]:
    """Yield all that the roots refer to, through code and objects of the packages that the roots are from."""
    homes = {_home_of(each) for root in roots for each in getattr(root, "__mro__", (root,))}
    homes -= {*sys.stdlib_module_names, "benchfw", ""}
    seen, waiting = dict[int, Any](), list(roots)  # what is seen is kept, so that no other gets its id
    while waiting and len(seen) < MOST_SEEN:
        each = waiting.pop()
        if id(each) not in seen:
            seen[id(each)] = each
            yield each
            waiting += _referred_by(each, homes)


def _home_of(found: Any) -> str:
    return str(getattr(found, "__module__", "")).partition(".")[0]


def _referred_by(found: Any, homes: Collection[str]) -> list[Any]:
    if isinstance(found, list | tuple | set | frozenset):
        return list(found)
    if isinstance(found, dict):
        return list(found.values())
    if isinstance(found, WRAPPERS):
        return [getattr(found, name) for name in WRAPPED if hasattr(found, name)]
    if _home_of(found) not in homes:
        return []
    if isinstance(found, FunctionType):
        return _named_by(found)
    above = found.__bases__ if isinstance(found, type) else (type(found),)
    return [*above, *getattr(found, "__dict__", {}).values()]


def _named_by(function: FunctionType) -> list[Any]:
    """Return the values that a function closes over, has as defaults, or names as globals."""
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # it has no value yet
            continue
    names = function.__globals__
    return found + [names[each] for each in _names_in(function.__code__) if each in names]


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names_in(each)
