"""Settings, methods and tuners that do not do what they should."""

import pytest

from benchfw import Choice, Log
from benchfw.errors import BenchfwError
from benchfw.store import Store


def test_a_setting_that_the_method_refuses_comes_last(tune):
    result = tune({"use": "slide", "step": Choice([-1.0, 0.5, 0.9])})
    tuning = result.tuning.set_index("step")
    assert tuning.loc[0.9, "chosen"]
    assert not tuning.loc[-1.0, "reached"]


TUNERS = """
from benchfw import hookimpl
from benchfw.tuning import Proposal

class Odd:
    is_sequence = False

    def __init__(self):
        {begins}

    def propose(self, spaces, trials, seed, tried):
        {body}

@hookimpl
def register_tuners(register):
    register("odd", Odd)
"""


def test_a_tuner_that_cannot_begin_is_an_error_before_there_is_a_run(tune, plugin_file, tmp_path):
    odd = plugin_file(TUNERS.format(begins="raise ValueError('no luck')", body="return []"), "odd.py")
    for tuner, why in (("odd", "'odd' cannot be made: it raised ValueError: no luck"), ("grid", "too few")):
        with pytest.raises(BenchfwError, match=why):
            tune(
                {"use": "slide", "step": Choice([0.1, 0.2, 0.3, 0.4, 0.5])},
                plugins=[odd],
                tune={"trials": 4, "repetitions": 1, "tuner": tuner},
            )
    with Store(tmp_path / "store.sqlite") as store:
        assert store.runs() == []


def test_a_tuner_may_propose_one_setting_at_two_shares_at_once(tune, plugin_file):
    both = "return [] if tried else [Proposal({'step': 0.5}, 0.25), Proposal({'step': 0.5}, 1.0)]"
    odd = plugin_file(TUNERS.format(begins="pass", body=both), "odd.py")
    result = tune(plugins=[odd], tune={"trials": 2, "repetitions": 2, "tuner": "odd"}, target={})
    assert list(result.tuning["share"]) == [0.25, 1.0]
    assert sum(result.run.tuning_counts.values()) == 4


@pytest.mark.thorough
def test_what_is_proposed_again_does_not_end_tuning(tune):
    pytest.importorskip("optuna")
    values = Choice([0.01, 0.1, 0.3, 0.9])
    learnt = {"trials": 12, "repetitions": 1, "tuner": "optuna"}
    assert len(tune({"use": "slide", "step": values}, tune=learnt).tuning) >= 3
    result = tune(
        {"use": "slide", "step": values},
        tune={"cost": 1e5, "repetitions": 1, "tuner": "random"},
        store="r.sqlite",
    )
    assert set(result.tuning["step"]) == set(values.values)


def test_settings_that_cost_nothing_do_not_go_on_for_ever(tune, plugin_file):
    broken = plugin_file(
        """
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Broken:
    step: float = 1.0
    solves = Smooth

    def run(self, problem, rng):
        raise ValueError("no")
        yield

@hookimpl
def register_optimizers(register):
    register("broken", Broken)
""",
        "broken.py",
    )
    result = tune(
        {"use": "broken", "step": Log(0.1, 1)}, plugins=[broken], tune={"cost": 10.0, "repetitions": 1}
    )
    assert len(result.tuning) == 16
