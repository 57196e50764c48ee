"""Draws that depend on each other are told from biases of single runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.analysis.bias import batch_scatter, dependence_probability
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
