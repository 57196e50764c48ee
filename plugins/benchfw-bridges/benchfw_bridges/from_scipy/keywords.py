"""Keywords that a bridge passes on to a function of SciPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from benchfw import BenchfwError
from benchfw.errors import nearest


def check_keywords(
    function: Callable[..., Any], given: Mapping[str, Any], ours: Collection[str], name: str
) -> None:
    """Raise BenchfwError for a keyword that a function does not have, or that the bridge fills in itself."""
    legal = [each for each in inspect.signature(function).parameters if each not in ours]
    for each in given:
        if each not in legal:
            what = f"scipy's {function.__name__}"
            raise BenchfwError(
                f"{name}: '{each}' of {what} is set by the bridge; leave it out"
                if each in ours
                else f"{name}: {what} has no keyword '{each}'{nearest(each, legal, otherwise=';')} "
                f"its keywords: {', '.join(legal)}"
            )
