"""Optuna's sampler as a tuner: it learns from ranks, repeats, and says what to install."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import benchfw
from benchfw import Choice, Integer, Log
from benchfw.tuning import Tried
from benchfw_bridges.from_optuna.tuner import OptunaTPE

SPACES = {"step": Log(1e-4, 1), "size": Integer(1, 50), "mode": Choice(["fast", "slow"])}


def distance(setting):
    return abs(np.log(setting["step"] / 0.02))


def search(trials, seed=3):
    """Return all settings that are tried, in order; the nearest to a step of 0.02 is the best."""
    tuner, settings = OptunaTPE(), []
    while True:
        losses = [distance(setting) for setting in settings]
        ranks = [sum(other < loss for other in losses) for loss in losses]
        more = tuner.propose(SPACES, trials, seed, [*map(Tried, settings, ranks)])
        if not more:
            return settings
        settings += more


def test_it_learns_from_ranks_and_proposes_the_same_again():
    pytest.importorskip("optuna")
    settings = search(20)
    assert len(settings) == 20
    distances = [distance(setting) for setting in settings]
    assert np.mean(distances[10:]) < np.mean(distances[:10])
    assert settings == search(20)


def test_without_optuna_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(benchfw.Unavailable, match=r"needs Optuna; pip install 'benchfw-bridges\[optuna\]'"):
        search(3)


def test_a_suite_tunes_with_it_and_what_is_proposed_again_is_not_run_again(tmp_path):
    pytest.importorskip("optuna")
    result = benchfw.compare(
        {"use": "least-squares", "samples": 20, "features": 3},
        {"use": "gd", "step": Choice([0.01, 0.1, 0.3])},
        target={"gap": 1e-3},
        budget={"iterations": 50},
        tune={"trials": 6, "repetitions": 1, "tuner": "optuna"},
        repetitions=2,
        store=tmp_path / "store.sqlite",
        jobs=0,
        replay=False,
    )
    assert 2 <= len(result.tuning) <= 3
    assert result.tuning["chosen"].sum() == 1
