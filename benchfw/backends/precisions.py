"""The numbers that make normals from random words, for each floating-point type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

LN2_HIGH = 0.6931471803691238  # few enough bits that its product with an exponent is exact
LN2_LOW = 1.9082149292705877e-10
HALF_PI = 1.5707963267948966


@dataclass(frozen=True)
class Precision:
    """The numbers that make the construction for one floating-point type; polynomials lowest power first."""

    floating: str
    signed: str
    mantissa_bits: int
    angle_bits: int
    offset: int  # the bits of sqrt(1/2): mantissas f are taken in [sqrt(1/2), sqrt(2))
    sqrt_half: float
    log: tuple[float, ...]
    sine: tuple[float, ...]  # sin(pi z / 2) = z (pi / 2 + z² P(z²)) for |z| <= 1/2
    cosine: tuple[float, ...]  # cos(pi z / 2) = 1 + z² P(z²)


SINGLE = Precision(
    floating="float32",
    signed="int32",
    mantissa_bits=23,
    angle_bits=24,
    offset=0x3F3504F3,
    sqrt_half=0.7071067690849304,
    # log(1 + t) = t - t² / 2 + t³ P(t): no division in single precision
    log=(
        0.3333333134651184,
        -0.2499999701976776,
        0.20000715553760529,
        -0.1666780263185501,
        0.14249058067798615,
        -0.12425687164068222,
        0.11685419827699661,
        -0.11479734629392624,
        0.06971612572669983,
    ),
    sine=(-0.6459640264511108, 0.07968702912330627, -0.004621966741979122),
    cosine=(-1.2337005138397217, 0.253669410943985, -0.02086152881383896, 0.0009067399078048766),
)

DOUBLE = Precision(
    floating="float64",
    signed="int64",
    mantissa_bits=52,
    angle_bits=53,
    offset=0x3FE6A09E667F3BCD,
    sqrt_half=0.7071067811865476,
    # log(1 + t) = 2 s + s³ P(s²) with s = t / (2 + t)
    log=(
        0.666666666666667,
        0.39999999999899505,
        0.28571428625975487,
        0.22222211134795034,
        0.18182889125265025,
        0.15331721600446224,
        0.14616449686400795,
    ),
    sine=(
        -0.6459640975062462,
        0.07969262624614423,
        -0.004681754134254207,
        0.00016044116661409423,
        -3.5987029509735105e-06,
        5.642225369163528e-08,
    ),
    cosine=(
        -1.2337005501361697,
        0.2536695079010478,
        -0.020863480763340773,
        0.0009192602745468447,
        -2.5202039028029178e-05,
        4.710678405505227e-07,
        -6.329396344967424e-09,
    ),
)

_PRECISIONS = {np.dtype(each.floating): each for each in (SINGLE, DOUBLE)}


def precision_of(dtype: Any) -> Precision:
    """Return the construction for float32 or float64."""
    kind = np.dtype(dtype)
    if kind not in _PRECISIONS:
        raise TypeError(f"normals come as float32 or float64, not as {kind.name}")
    return _PRECISIONS[kind]
