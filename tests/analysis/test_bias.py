"""Biases in the mean and of single runs, and draws that depend on each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchfw.analysis.bias import (
    Scatter,
    batch_scatter,
    bias_ends,
    dependence_probability,
    length_ends,
    length_probability,
    single_probability,
    unbiased_probability,
)
from benchfw.analysis.draws import pool_draws


def dependence(draws):
    """Return the p-value of runs (runs, draws) that are looked at every 7 draws and at the end."""
    count = draws.shape[-1]
    looks = np.append(np.arange(2, count, 7), count)
    means = np.cumsum(draws, axis=-1)[:, looks - 1] / looks
    variances = np.var(draws, axis=-1, ddof=1)
    pool = pool_draws(variances, variances * math.sqrt(2 / count), math.sqrt(8), count)
    return dependence_probability([batch_scatter(looks, each) for each in means], pool)


def chains(rng, memory, runs=5, draws=200):
    noise = rng.standard_normal((runs, draws))
    found = noise.copy()
    for step in range(1, draws):
        found[:, step] = memory * found[:, step - 1] + math.sqrt(1 - memory**2) * noise[:, step]
    return found


def test_runs_that_stop_by_what_they_drew_are_not_called_biased_for_it():
    """Of exponential draws until their sum is above 20 the mean is too large by 5 %."""
    reports = 400
    drawn = np.random.default_rng(3).exponential(size=(reports, 40, 80))
    counts = 1 + np.sum(np.cumsum(drawn, axis=-1) <= 20, axis=-1)
    kept = np.where(np.arange(80) < counts[..., None], drawn, np.nan)
    biases, variances = np.nanmean(kept, axis=-1) - 1, np.nanvar(kept, axis=-1, ddof=1)
    pool = pool_draws(variances, np.sqrt(8 / counts), 5.0, counts)
    assert np.all(pool.broad)
    found = unbiased_probability(biases, pool) <= 0.05
    assert np.mean(found) <= 0.05
    assert np.array_equal(found, bias_ends(biases, pool)[0] > 0)
    even = replace(pool, unevenness=np.zeros(reports))
    assert np.mean(unbiased_probability(biases, even) <= 0.05) > 0.05 + 4 * math.sqrt(0.05 * 0.95 / reports)


def test_the_allowance_for_stopping_is_twice_as_large_for_squares():
    """Both the sum of the draws and their number are off: of a length and of single runs."""
    rng, counts = np.random.default_rng(4), np.array([60, 80, 100, 120, 140])
    pool = pool_draws(np.ones(5), np.sqrt(2 / counts), math.sqrt(8), counts)
    even = replace(pool, unevenness=np.zeros(()))
    biases, squares = rng.normal(0, 0.15, 5), rng.normal(0.2, 0.1, 5)
    factor = 1 + 2 * math.sqrt(2) * pool.unevenness
    single = single_probability(biases, np.ones(5), counts, even)
    assert 0.001 < single < 0.5
    assert single_probability(biases * np.sqrt(factor), np.ones(5), counts, pool) == pytest.approx(single)
    moved = 2 * pool.drift * np.std(squares, ddof=1) / math.sqrt(5)
    assert length_probability(squares + moved, pool) == pytest.approx(length_probability(squares, even))
    found, narrow = length_ends(squares + moved, pool), length_ends(squares, even)
    assert found[0] == pytest.approx(narrow[0])
    assert found[1] ** 2 == pytest.approx(narrow[1] ** 2 + 2 * moved)


def test_single_runs_and_batches_have_the_law_that_the_spread_of_their_squares_asks_for():
    """F, whose degrees of freedom are twice the squared mean over the variance of each of its two parts."""
    counts, variances = np.array([100, 200, 300]), np.array([1.0, 2.0, 0.5])
    biases = np.array([0.15, -0.12, 0.06])
    pool = pool_draws(variances, variances / 5, 1.0, counts)
    excess, noise = 6.0, 0.3  # the kurtosis of exponential draws, less 3
    pool = replace(pool, carriers=pool.draws / (excess + 3), noise=np.asarray(noise))
    own = variances / counts
    freedom = 2 * np.sum(own) ** 2 / np.sum(own**2 * (2 + excess / counts))
    expected = stats.f.sf(np.sum(biases**2) / np.sum(own), freedom, 2 / noise**2)
    found = single_probability(biases, variances, counts, replace(pool, unevenness=np.zeros(())))
    assert found == pytest.approx(expected)
    scatters = [Scatter(12.0, 7, 4.0), Scatter(15.0, 7, 5.0)]
    freedom = 2 * 14**2 / (14 * (2 + excess / 4))
    expected = stats.f.sf(27 / 14 / pool.variance, freedom, 2 / noise**2)
    assert dependence_probability(scatters, pool) == pytest.approx(expected)


def test_a_length_is_called_a_bias_just_if_its_interval_leaves_out_0():
    rng = np.random.default_rng(5)
    squares = rng.normal(rng.uniform(-1, 3, (300, 1)), 1.0, (300, 5))
    pool = pool_draws(np.ones((300, 5)), math.sqrt(2 / 100), math.sqrt(8), 100)
    found = length_probability(squares, pool) <= 0.05
    assert 0 < np.mean(found) < 1
    assert np.array_equal(found, length_ends(squares, pool)[0] > 0)


def test_a_chain_is_found_and_an_offset_a_run_is_not():
    rng = np.random.default_rng(2)
    assert all(dependence(chains(rng, memory)) < 1e-4 for memory in (0.7, 0.9, 0.99) for _ in range(10))
    offsets = rng.standard_normal((100, 5, 1))
    found = np.array([dependence(rng.standard_normal((5, 200)) + each) for each in offsets])
    assert np.mean(found <= 0.2) == pytest.approx(0.2, abs=3 * math.sqrt(0.2 * 0.8 / 100))


def test_one_look_and_draws_that_do_not_vary_say_nothing():
    assert batch_scatter([100.0], [0.5]).freedom == 0
    assert (
        dependence_probability([batch_scatter([100.0], [0.5])], pool_draws([1.0], [0.1], [1.0], [100])) == 1
    )
    assert dependence(np.ones((5, 200))) == 1
