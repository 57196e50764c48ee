"""Tuners: what they propose follows from the spaces, the seed and the results alone."""

import numpy as np
import pytest

from benchfw.errors import BenchfwError
from benchfw.registry import Registry
from benchfw.search import Choice, Integer, Log
from benchfw.tuning.tuners import Grid, Random, Sobol, Tried

STEP = {"step": Log(1e-4, 1)}
TWO = {**STEP, "size": Integer(1, 50)}
THREE = {**TWO, "mode": Choice(["fast", "slow"])}


def search(tuner, spaces, trials, seed=3):
    """Return all that a tuner tries, in order, and in how many rounds."""
    settings, rounds = [], 0
    while proposals := tuner.propose(spaces, trials, seed, [Tried(each, 0) for each in settings]):
        rounds += 1
        settings += proposals
    return settings, rounds


@pytest.mark.parametrize("tuner", [Sobol(), Random(), Grid()], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("spaces", [STEP, THREE], ids=["one", "three"])
def test_the_same_call_proposes_the_same_values_of_the_spaces(tuner, spaces):
    first, _ = search(tuner, spaces, 12)
    assert first == search(tuner, spaces, 12)[0]
    for setting in first:
        assert setting.keys() == spaces.keys()
        assert 1e-4 <= setting["step"] <= 1
        assert spaces is STEP or (type(setting["size"]) is int and setting["mode"] in {"fast", "slow"})


@pytest.mark.parametrize("tuner", [Sobol(), Random()], ids=["sobol", "random"])
def test_a_larger_allowance_begins_with_the_settings_of_a_smaller(tuner):
    few, _ = search(tuner, THREE, 32)
    many, _ = search(tuner, THREE, 64)
    assert many[:32] == few
    assert len(many) == 64
    more = tuner.propose(THREE, 64, 3, [Tried(setting, 0) for setting in few])
    assert more == many[32:]  # what was tried is not proposed again
    assert search(tuner, THREE, 32, seed=4)[0] != few


def test_sobol_fills_every_stretch_of_a_space_once():
    for seed in range(5):
        places = [STEP["step"].place(each["step"]) for each in search(Sobol(), STEP, 16, seed)[0]]
        assert sorted((16 * np.array(places) + 1e-3).astype(int)) == list(range(16))


def test_a_grid_has_all_combinations_that_fit_and_both_ends():
    found, rounds = search(Grid(), THREE, 18)
    assert rounds == 1
    assert len({str(each) for each in found}) == len(found) == 18
    assert {each["step"] for each in found} == {1e-4, 0.01, 1.0}
    assert {each["size"] for each in found} == {1, 26, 50}
    assert len(search(Grid(), {"size": Integer(1, 3)}, 100)[0]) == 3
    with pytest.raises(BenchfwError, match="4 trials are too few for a grid of all choices; give 5"):
        search(Grid(), {"mode": Choice(list("abcde"))}, 4)


def test_a_plugin_adds_a_tuner(plugin_file):
    text = """
from benchfw import hookimpl

class Middle:
    is_sequence = False

    def propose(self, spaces, trials, seed, tried):
        return [] if tried else [{path: space.value(0.5) for path, space in spaces.items()}]

@hookimpl
def register_tuners(register):
    register("middle", Middle)
"""
    registry = Registry([str(plugin_file(text, "middle.py"))])
    tuner = registry.get("tuner", "middle").factory()
    assert search(tuner, STEP, 5)[0] == [{"step": 0.01}]
