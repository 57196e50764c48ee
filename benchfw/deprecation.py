"""What goes away warns for a release before it does."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

DEPRECATED: dict[str, str] = {}
"""What is deprecated, and the version without it; a test fails when that version has come."""


def deprecated(gone_in: str, instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function warn its callers that it is gone in a version, and what to call instead.

    ::

        @deprecated(gone_in="0.3", instead="benchfw.load")
        def read(run): ...
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__}.{function.__qualname__}"
        DEPRECATED[name] = gone_in

        @functools.wraps(function)
        def warning(*args: P.args, **options: P.kwargs) -> R:
            told = f"{name} will be gone in benchfw {gone_in}; use {instead}"
            warnings.warn(told, DeprecationWarning, stacklevel=2)
            return function(*args, **options)

        return warning

    return decorate
