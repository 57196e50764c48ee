"""The numbers have the distributions they claim; seeds are fixed and tolerances are standard errors.

A statistic may lie five standard errors out, a p-value may be as small as 1e-4: with fixed seeds a failure
means a changed stream or a wrong law, not bad luck.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchfw.backends import Rng, get_backend

NUMPY = get_backend("numpy")
MANY = 200_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniforms_are_uniform(dtype):
    drawn = Rng(NUMPY, 1).random(MANY, dtype)
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    assert abs(drawn.mean(dtype=np.float64) - 0.5) < 5 * math.sqrt(1 / 12 / MANY)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normals_are_normal(dtype):
    drawn = Rng(NUMPY, 2).standard_normal(MANY, dtype).astype(np.float64)
    assert stats.kstest(drawn, "norm").pvalue > 1e-4
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3)):
        variance = stats.norm.moment(2 * power) - moment**2
        assert abs(np.mean(drawn**power) - moment) < 5 * math.sqrt(variance / MANY)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_two_normals_of_a_pair_are_independent(dtype):
    first, second = Rng(NUMPY, 3).standard_normal((MANY, 2), dtype).astype(np.float64).T
    for one, other, variance in ((first, second, 1), (first**2 - 1, second**2 - 1, 4)):
        assert abs(np.mean(one * other)) < 5 * math.sqrt(variance / MANY)
    turns = np.arctan2(second, first) / (2 * np.pi) + 0.5
    assert stats.kstest(turns, "uniform").pvalue > 1e-4


def test_normals_reach_their_tails_as_often_as_they_should():
    count = 2_000_000
    drawn = np.abs(Rng(NUMPY, 4).standard_normal(count, np.float32))
    for threshold in (3.0, 4.0, 4.5):
        expected = 2 * stats.norm.sf(threshold) * count
        assert abs(np.count_nonzero(drawn > threshold) - expected) < 5 * math.sqrt(expected)


def test_normal_has_the_mean_and_deviation_asked_for():
    drawn = Rng(NUMPY, 5).normal(3.0, 0.5, size=MANY)
    assert abs(drawn.mean() - 3.0) < 5 * 0.5 / math.sqrt(MANY)
    assert abs(drawn.std() - 0.5) < 5 * 0.5 / math.sqrt(2 * MANY)


def test_signs_are_fair_and_uncorrelated():
    drawn = Rng(NUMPY, 6).rademacher((MANY, 2))
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    for mean in (
        *drawn.mean(axis=0),
        np.mean(drawn[:, 0] * drawn[:, 1]),
        np.mean(drawn[1:, 0] * drawn[:-1, 0]),
    ):
        assert abs(mean) < 5 / math.sqrt(MANY - 1)


@pytest.mark.parametrize("count", [2, 7, 100])
def test_integers_are_uniform(count):
    drawn = Rng(NUMPY, 7).integers(count, size=MANY)
    assert stats.chisquare(np.bincount(drawn, minlength=count)).pvalue > 1e-4


def test_all_permutations_of_four_are_equally_probable():
    repetitions = 12_000
    seen = dict.fromkeys(itertools.permutations(range(4)), 0)
    rng = Rng(NUMPY, 8)
    for _ in range(repetitions):
        seen[tuple(rng.permutation(4).tolist())] += 1
    assert len(seen) == 24
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


@pytest.mark.parametrize(("count", "size"), [(16, 2), (5, 3)], ids=["by rejection", "by permutation"])
def test_all_ordered_selections_are_equally_probable(count, size):
    repetitions = 12_000
    seen = dict.fromkeys(itertools.permutations(range(count), size), 0)
    rng = Rng(NUMPY, 9)
    for _ in range(repetitions):
        seen[tuple(rng.choice(count, size=size, replace=False).tolist())] += 1
    assert len(seen) == math.perm(count, size)
    assert stats.chisquare(list(seen.values())).pvalue > 1e-4


def test_a_weighted_choice_has_the_frequencies_asked_for():
    p = np.array([0.1, 0.0, 0.65, 0.25])
    seen = np.bincount(Rng(NUMPY, 10).choice(4, size=MANY, p=p), minlength=4)
    assert seen[1] == 0
    assert stats.chisquare(seen[p > 0], MANY * p[p > 0]).pvalue > 1e-4


def test_blocks_and_streams_are_uncorrelated():
    draws = [Rng(NUMPY, 11, stream, block).standard_normal(MANY) for stream in range(2) for block in range(2)]
    for one, other in itertools.combinations(draws, 2):
        assert abs(np.mean(one * other)) < 5 / math.sqrt(MANY)
