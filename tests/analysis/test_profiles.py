from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchfw.analysis.convergence import Curve, time_to_all
from benchfw.analysis.profiles import (
    average_ranks,
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


def test_ranks_are_those_of_the_published_example():
    # Demšar 2006, table 6: areas under the curve of C4.5 and three variants on 14 data sets
    plain = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1, 0.94, 0.619, 0.972, 0.957]
    leaf = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1, 0.962, 0.666, 0.981, 0.978]
    prune = [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1, 0.965, 0.614, 0.9751, 0.946]
    both = [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1, 0.962, 0.669, 0.975, 0.970]
    found = average_ranks(-np.array([plain, leaf, prune, both]).T)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=6e-4)
    # 2.569 sqrt(4 x 5 / (6 x 14)) = 1.25, and the F test rejects at 5 %
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.probability < 0.05


def test_of_many_problems_the_test_of_ranks_is_friedmans():
    from scipy.stats import friedmanchisquare

    table = np.random.default_rng(3).random((40, 4)) + np.arange(4) * 0.05
    approximation = friedmanchisquare(*table.T).pvalue
    assert 0.01 < approximation < 0.2
    error = math.sqrt(approximation * (1 - approximation) / 10_000)
    assert average_ranks(table).probability == pytest.approx(approximation, abs=4 * error + 0.005)


def test_of_few_problems_the_test_of_ranks_is_exact():
    """Three methods are in one order on all of three problems in 6 of 216 cases."""
    error = math.sqrt(1 / 36 * 35 / 36 / 10_000)
    assert average_ranks([[1, 2, 3]] * 3).probability == pytest.approx(1 / 36, abs=4 * error + 1e-4)
    reports = np.random.default_rng(4).random((300, 4, 3))
    found = np.mean([average_ranks(each).probability <= 0.05 for each in reports])
    assert found <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 300)


def test_methods_far_apart_are_surely_not_alike():
    assert average_ranks([[1, 2, 3]] * 40).probability == pytest.approx(1e-4, rel=1e-3)


def test_all_that_never_arrive_share_the_last_ranks():
    assert average_ranks([[1, inf, inf]] * 3).ranks == (1, 2.5, 2.5)
    assert average_ranks([[inf, inf, inf]] * 3).probability == 1


def test_two_methods_or_two_problems_are_too_few_to_rank():
    assert average_ranks(np.ones((5, 2))) is None
    assert average_ranks(np.ones((2, 5))) is None


def test_costs_must_be_a_table():
    with pytest.raises(ValueError, match=r"\(problems, methods\)"):
        performance_profile([1.0, 2.0])
