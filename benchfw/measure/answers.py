"""Whether an answer is of the shape and kind of the start: another one would broadcast and get a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchfw.errors import BenchfwError

Number = bool | int | float | complex


def is_array(value: Any) -> bool:
    """Return whether a value is an array of any library, or a number."""
    return isinstance(value, Number) or (hasattr(value, "shape") and hasattr(value, "dtype"))


def is_double(value: Any) -> bool:
    """Return whether a value is known to be of double precision."""
    return isinstance(value, Number) or getattr(getattr(value, "dtype", None), "itemsize", 0) >= 8


def check_alike(start: Any, answer: Any, iteration: int) -> None:
    """Raise BenchfwError unless an answer has the structure, shapes and kinds of numbers of the start."""
    if _is_same_kind(start, answer):
        return
    found = _find_difference(start, answer)
    if found is not None:
        mine, its = found
        raise BenchfwError(f"answer {iteration} {mine}, the start {its}; yield answers like the start")


def _is_same_kind(start: Any, answer: Any) -> bool:
    """Return whether both are arrays of one type, shape and dtype: almost always, and quick to see."""
    if type(start) is not type(answer):
        return False
    shape = getattr(start, "shape", None)
    return shape is not None and shape == answer.shape and getattr(start, "dtype", None) == answer.dtype


def _find_difference(start: Any, answer: Any) -> tuple[str, str] | None:
    """Return what an answer and the start have where they differ, or None.

    Objects that are neither arrays nor containers of them are compared by class: a predictor may grow.
    """
    if start is None:
        return None
    if is_array(start) and is_array(answer):
        return _find_array_difference(start, answer)
    if type(start) is not type(answer):
        return f"is {_kind_name(answer)}", f"is {_kind_name(start)}"
    if not isinstance(start, Mapping | tuple | list):
        return None
    mine, its = (_parts(each) for each in (answer, start))
    if list(mine) != list(its):
        return f"has the parts {_names(mine)}", f"has {_names(its)}"
    pairs = [(its[key], mine[key]) for key in its]
    return next((found for pair in pairs if (found := _find_difference(*pair)) is not None), None)


def _parts(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else dict(enumerate(value))


def _find_array_difference(start: Any, answer: Any) -> tuple[str, str] | None:
    shapes = [tuple(getattr(each, "shape", ())) for each in (answer, start)]
    if shapes[0] != shapes[1]:
        return f"has shape {shapes[0]}", f"has {shapes[1]}"
    # a Python number and a 0-d array of the backend are the same to metrics
    if shapes[0] and _library(start) != _library(answer):
        return f"is {_kind_name(answer)}", f"is {_kind_name(start)}"
    mine, its = _number_kind(answer), _number_kind(start)
    if mine == its or (mine, its) == ("real", "integer"):
        return None
    return f"has {mine} numbers", f"has {its} ones"


def _number_kind(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if dtype is None:  # a number of Python's: 0 and 0.0 are the same start
        return "complex" if isinstance(value, complex) else "real"
    if kind is None:  # a library without NumPy's kinds
        kind = "c" if "complex" in str(dtype) else "f" if "float" in str(dtype) else "i"
    return {"f": "real", "c": "complex", "i": "integer", "u": "integer", "b": "integer"}.get(kind, str(dtype))


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _kind_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{_library(value)}'s {kind.__name__}"


def _names(value: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, value))
