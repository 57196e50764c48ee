"""Checks of distributions over 0, 1, 2, …: the tails, the samples and the mean tell one story."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchfw.backends import get_backend
from benchfw.testing.answers import METHOD_SEED, require_finite
from benchfw.testing.check import NotApplicable, define_check, require
from benchfw.testing.checks.estimators import LEVEL
from benchfw.testing.subject import Subject, describe_options

DECAYS = (1.2, 2.0)
SAMPLES = 20_000
FEWEST_EXPECTED = 10.0  # in a cell of the chi-square test
FURTHEST = 1 << 20


@define_check("distribution", advice="survival(0) is 1, and survival never grows: it is P(n >= degree)")
def sums_to_one(subject: Subject) -> None:
    """The probabilities are not negative and add up to 1."""
    for law, decay, where in _laws(subject):
        tails = _tails(law, decay)
        require(abs(tails[0] - 1) <= 1e-12, f"survival(0) is {tails[0]:.6g}{where}")
        require(bool(np.all(np.diff(tails) <= 1e-12)), f"survival grows somewhere{where}")
        require(bool(np.all(tails >= 0)), f"survival is negative somewhere{where}")
        require(tails[-1] <= 1e-9, f"survival({len(tails) - 1:,}) is still {tails[-1]:.3g}{where}")


@define_check(
    "distribution", advice="draw n with P(n >= degree) = survival(degree): n = max {j : survival(j) >= u}"
)
def survival_matches_samples(subject: Subject) -> str:
    """Samples have the probabilities that survival says (chi-square at 1e-4)."""
    from scipy.special import chdtrc

    for law, decay, where in _laws(subject):
        tails = _tails(law, decay)
        drawn = np.asarray(law.sample(get_backend("numpy").rng(METHOD_SEED), decay, SAMPLES))
        require(drawn.dtype.kind in "iu" and bool(np.all(drawn >= 0)), f"samples are not counts{where}")
        expected = SAMPLES * -np.diff(np.append(tails, 0.0))
        observed = np.bincount(np.minimum(drawn, len(tails) - 1), minlength=len(tails))
        cells = _cells(expected)
        counts, wanted = (np.add.reduceat(each, cells) for each in (observed, expected))
        impossible = int(observed[expected < 1e-9].sum())
        require(impossible == 0, f"{impossible} samples have probability 0{where}")
        positive = wanted > 0
        statistic = float(np.sum((counts[positive] - wanted[positive]) ** 2 / wanted[positive]))
        freedom = int(positive.sum()) - 1
        probability = float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0
        require(
            probability >= LEVEL / 8,
            f"chi-square is {statistic:.1f} with {freedom} degrees of freedom{where}",
        )
    return f"{SAMPLES:,} samples"


@define_check("distribution", advice="make Σ survival(j), j >= 1, equal to the parameter mean")
def mean_as_declared(subject: Subject) -> None:
    """The mean is the parameter `mean`."""
    for law, decay, where in _laws(subject):
        declared = getattr(law, "mean", None)
        if declared is None:
            raise NotApplicable("it has no parameter called mean")
        found = math.fsum(_tails(law, decay)[1:])
        require(
            abs(found - declared) <= 1e-6 * declared, f"the mean is {found:.6g} and not {declared:g}{where}"
        )


@define_check("distribution", advice="return a Python int for size=None and an array of that size otherwise")
def sample_shapes(subject: Subject) -> None:
    """A sample is one number without a size, and an array of the size that is asked for."""
    rng = get_backend("numpy").rng(METHOD_SEED)
    for law, decay, where in _laws(subject):
        single = law.sample(rng, decay)
        require(np.ndim(single) == 0 and single == int(single), f"sample() gives {single!r}{where}")
        require(np.shape(law.sample(rng, decay, 7)) == (7,), f"sample(size=7) has another shape{where}")


def _laws(subject: Subject) -> list[tuple[Any, float, str]]:
    return [
        (subject.build(table), decay, f" ({describe_options({'decay': decay, **table})})")
        for table in subject.tables
        for decay in DECAYS
    ]


def _tails(law: Any, decay: float) -> Any:
    """Return survival(0), survival(1), … down to nothing."""
    count = 64
    while True:
        tails = np.asarray(law.survival(np.arange(count), decay), dtype=np.float64)
        require_finite(tails, f"survival at decay {decay:g}")
        if tails[-1] <= 1e-12 or count >= FURTHEST:
            return tails
        count *= 4


def _cells(expected: Any) -> Any:
    """Return where the cells of a chi-square test begin: each has enough expected samples."""
    starts, total = [0], 0.0
    left = float(expected.sum())
    for index, each in enumerate(expected.tolist()):
        if total >= FEWEST_EXPECTED and left >= FEWEST_EXPECTED:
            starts.append(index)
            total = 0.0
        total += each
        left -= each
    return np.array(starts)
