from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchfw.analysis.convergence import Curve, time_to_all
from benchfw.analysis.profiles import (
    performance_profile,
    spaced_targets,
    target_hits,
    target_profile,
)
from benchfw.analysis.stacks import Stack

inf = math.inf
costs = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.one_of(st.floats(0.01, 100), st.just(inf)),
)


def curve(values):
    steps = np.arange(len(values), dtype=float)
    return Curve(steps, steps / 2, steps * 10, np.array(values, dtype=float))


def stacked(curves):
    return Stack.join([Stack.of_blocks(each.block, [(0, *each.shape)]) for each in curves])


@given(costs)
def test_a_profile_counts_problems_within_a_factor_of_the_best(table):
    found = performance_profile(table, points=10_000)
    best = table.min(axis=1)
    for factor, shares in zip(found.grid, found.share, strict=True):
        for method, share in enumerate(shares):
            with np.errstate(invalid="ignore"):
                within = table[:, method] / best <= factor  # infinity over infinity is not a number
            assert share == pytest.approx(np.mean(within))


def test_a_profile_starts_with_who_wins_and_ends_with_what_is_solved():
    found = performance_profile([[1, 2], [4, 1], [1, 1], [inf, inf], [inf, 3]])
    np.testing.assert_array_equal(found.grid, [1, 2, 4])
    np.testing.assert_allclose(found.share[0], [2 / 5, 3 / 5])
    np.testing.assert_allclose(found.share[-1], [3 / 5, 4 / 5])


def test_what_costs_nothing_is_the_best():
    found = performance_profile([[0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(found.share, [[1, 0.5]])


@given(costs, st.integers(3, 20))
def test_a_thinned_profile_is_short_and_shows_no_step_early(table, points):
    whole, thin = target_profile(table, 10_000), target_profile(table, points)
    assert len(thin.grid) <= points + 1
    assert set(thin.grid) <= set(whole.grid)
    np.testing.assert_allclose(thin.share, whole.share[np.searchsorted(whole.grid, thin.grid)])
    np.testing.assert_allclose(thin.share[-1], whole.share[-1])


@given(
    st.lists(st.floats(0.1, 100), min_size=1, max_size=20),
    st.lists(st.floats(0.05, 120), min_size=1, max_size=6),
)
def test_hits_are_those_of_each_target_by_itself(values, targets):
    found = target_hits(stacked([curve(values), curve([math.nan])]), targets, "seconds")
    assert found[:, 0].tolist() == [time_to_all([curve(values)], [target]).seconds for target in targets]
    assert np.all(found[:, 1] == inf)


def test_targets_go_from_the_start_to_the_best_value_seen():
    found = spaced_targets([stacked([curve([100.0, 10.0, 3.0]), curve([100.0, 1.0])])], count=4)
    np.testing.assert_allclose(found, 100 * 10.0 ** -np.array([0.5, 1, 1.5, 2]))
    assert len(spaced_targets([stacked([curve([1.0, 2.0])])])) == 0
    np.testing.assert_allclose(spaced_targets([stacked([curve([1.0, -1.0])])], count=2), [0, -1])


def test_costs_must_be_a_table():
    with pytest.raises(ValueError, match=r"\(problems, methods\)"):
        performance_profile([1.0, 2.0])
