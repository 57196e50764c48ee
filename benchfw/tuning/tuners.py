"""Tuners: which settings of a method are tried.

A tuner is asked again and again, with all that was tried so far, until it proposes nothing. It keeps nothing
between two calls: what it proposes follows from the spaces, the seed and the results, so that a tuning that
was interrupted goes on from what is in the store.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from benchfw.backends import Rng, get_backend
from benchfw.errors import BenchfwError
from benchfw.search import Choice, Integer, Space

Setting: TypeAlias = Mapping[str, Any]
"""A value for each parameter that is tuned, by its path: {"estimator.size": 10}."""

Spaces: TypeAlias = Mapping[str, Space]


class Tried(NamedTuple):
    """A setting that was tried, and its rank among all that were: 0 is the best, and equals share a rank."""

    setting: Setting
    rank: int


class Tuner(Protocol):
    """Proposes settings; made anew for each call, without arguments."""

    is_sequence: ClassVar[bool]
    """Whether settings do not depend on results, and a larger allowance begins with those of a smaller."""

    def propose(self, spaces: Spaces, trials: int, seed: int, tried: Sequence[Tried]) -> list[Setting]:
        """Return the settings to try next, none at the end; all in all no more than `trials`."""
        ...


@dataclass(frozen=True)
class Sobol:
    """Points of a Sobol sequence, shifted at random: any first few of them fill the space evenly."""

    is_sequence: ClassVar[bool] = True

    def propose(self, spaces: Spaces, trials: int, seed: int, tried: Sequence[Tried]) -> list[Setting]:
        """Return all that are left of the allowance."""
        from scipy.stats import qmc

        bits = 30
        power = max(1, trials - 1).bit_length()
        points = qmc.Sobol(len(spaces), scramble=False, bits=bits).random_base2(power)[len(tried) : trials]
        # a digital shift (Cranley & Patterson's in base 2) of our own: equal on every machine
        shift = (_rng(seed).bits(len(spaces)) >> np.uint64(64 - bits)).astype(np.int64)
        places = ((points * 2**bits).astype(np.int64) ^ shift) / 2**bits
        return [_setting(spaces, place) for place in places]


@dataclass(frozen=True)
class Random:
    """Independent points, each place of a space as likely as any other."""

    is_sequence: ClassVar[bool] = True

    def propose(self, spaces: Spaces, trials: int, seed: int, tried: Sequence[Tried]) -> list[Setting]:
        """Return all that are left of the allowance."""
        places = _rng(seed).random((trials, len(spaces)))[len(tried) :]
        return [_setting(spaces, place) for place in places]


@dataclass(frozen=True)
class Grid:
    """Every combination of all choices and of equally spaced numbers, as many as the allowance permits."""

    is_sequence: ClassVar[bool] = False

    def propose(self, spaces: Spaces, trials: int, seed: int, tried: Sequence[Tried]) -> list[Setting]:  # noqa: ARG002 - a grid draws nothing
        """Return the whole grid at once."""
        if tried:
            return []
        choices = {path: len(each.values) for path, each in spaces.items() if isinstance(each, Choice)}
        if math.prod(choices.values()) > trials:
            raise BenchfwError(
                f"{trials} trials are too few for a grid of all choices; give {math.prod(choices.values())}, "
                'or another tuner, such as "sobol"'
            )
        levels = {path: choices.get(path, 1) for path in spaces}
        growing = [path for path in spaces if path not in choices]
        while growing:  # one level more for each parameter in turn, as long as all combinations fit
            path = growing.pop(0)
            more = {**levels, path: levels[path] + 1}
            if math.prod(more.values()) <= trials and levels[path] < _most_levels(spaces[path]):
                levels = more
                growing.append(path)
        axes = [_spread(space, levels[path]) for path, space in spaces.items()]
        return [dict(zip(spaces, values, strict=True)) for values in itertools.product(*axes)]


def _setting(spaces: Spaces, places: Sequence[float] | np.ndarray[Any, Any]) -> dict[str, Any]:
    return {
        path: space.value(float(place)) for (path, space), place in zip(spaces.items(), places, strict=True)
    }


def _most_levels(space: Space) -> float:
    return space.high - space.low + 1 if isinstance(space, Integer) else math.inf


def _spread(space: Space, levels: int) -> list[Any]:
    """Return equally spaced values of a space, its ends among them; of one level the middle."""
    if isinstance(space, Choice):
        return list(space.values)
    places = [each / (levels - 1) for each in range(levels)] if levels > 1 else [0.5]
    return list(dict.fromkeys(space.value(place) for place in places))


def _rng(seed: int) -> Rng:
    return Rng(get_backend("numpy"), seed)
