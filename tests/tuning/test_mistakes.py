"""Mistakes in a suite that tunes, and settings, methods and tuners that do not do what they should."""

import re

import pytest

from benchfw import Choice, Integer, Log
from benchfw.errors import BenchfwError
from benchfw.store import Store


@pytest.mark.parametrize(
    ("method", "suite", "why"),
    [
        (
            {"step": Integer(-3, -1)},
            {},
            "slide with step = -1 cannot be built: step must be positive, got -1",
        ),
        ({"mode": Log(1, 2)}, {}, r"mode must be 'fast' or 'slow', got 1, in suite, \[\[optimizer\]\] 1"),
        ({"mode": Choice(["fast", "fats"])}, {}, "mode must be 'fast' or 'slow', got 'fats'"),
        ({"stepp": Log(1, 2)}, {}, "no parameter 'stepp'; did you mean 'step'"),
        ({"step": Choice([0.1, {"tune": "log", "from": 1, "to": 2}])}, {}, "step must be float, got"),
        ({}, {"tune": {"trials": 3}}, "tune gives an allowance, and no method has a parameter to tune"),
        ({"step": Log(1, 2)}, {"tune": {"trials": 0}}, "tune.trials must be a whole number from 1, got 0"),
        ({"step": Log(1, 2)}, {"tune": {"trials": 2, "cost": 1.0}}, "tune has trials and cost"),
        (
            {"step": Log(1, 2)},
            {"tune": {"tuner": "sobl"}},
            "unknown tuner 'sobl' in tune; did you mean 'sobol'",
        ),
        ({"step": Log(1, 2)}, {"tune": {"across": "all"}}, "tune.across must be 'problems', got 'all'"),
        (
            {"step": Log(1, 2)},
            {"tune": {"tuner": "halving", "across": "problems"}},
            r"tune.across needs a tuner whose settings do not depend on results \(random or sobol\)",
        ),
        (
            {"step": Log(1, 2)},
            {"tune": {"metric": "second to target"}},
            "unknown tune.metric 'second to target'; did you mean 'seconds to target'",
        ),
        (
            {"step": Log(1, 2)},
            {"tune": {"metric": "cost to target"}, "target": {}},
            "no target is given",
        ),
        (
            {"step": Log(0.1, 1)},
            {"tune": {"metric": "gpa", "trials": 2}},
            "tune.metric 'gpa' is not a metric",
        ),
        ({"step": Log(1, 2)}, {"tune": {"trials": 10**9}}, "asks for 3,000,000,003 trials"),
        (
            {"step": 0.5},
            {"problem": [{"use": "bowl", "size": Integer(1, 3)}]},
            r"\[\[problem\]\] 1: 'size' is a search space, and a problem is not tuned",
        ),
        (
            {"step": 0.5},
            {"estimator": [{"use": "noisy", "scale": Log(1, 2)}]},
            "estimator 'noisy' has a search space, and only optimizers are tuned",
        ),
    ],
)
def test_a_mistake_is_one_sentence(tune, method, suite, why):
    with pytest.raises(BenchfwError, match=why):
        tune({"use": "slide", **method}, **{"tune": {"trials": 2}, **suite})


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


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return []", "tuner 'odd' proposed nothing"),
        ("return None", "tuner 'odd' must propose a list of Proposals, got None"),
        ("return [{'step': 1.0}]", "must propose a list of Proposals"),
        ("return [Proposal(5)]", "tuner 'odd' must propose settings as dicts, got 5"),
        ("return [Proposal(None)]", "must propose settings as dicts, got None"),
        ("return [Proposal(['step'])]", "must propose settings as dicts, got ['step']"),
        ("1 / 0", "tuner 'odd' raised ZeroDivisionError"),
        ("return [Proposal({'stepp': 1.0})]", "must give a value for each of step, got {'stepp': 1.0}"),
        ("return [Proposal({'step': 5.0})]", "proposed step = 5.0, outside of 0.01 to 1.9"),
        ("return [Proposal({'step': float('nan')})]", "proposed step = nan, outside of"),
        ("return [Proposal({'step': 1.0}, 50)]", "proposed the share 50 of a budget"),
        ("return [Proposal({'step': 1.0})]", "proposed more than its allowance of 8 whole budgets"),
    ],
)
def test_a_tuner_that_proposes_what_it_may_not_is_named(tune, plugin_file, body, why):
    odd = plugin_file(TUNERS.format(begins="pass", body=body), "odd.py")
    with pytest.raises(BenchfwError, match=re.escape(why)):
        tune(plugins=[odd], tune={"trials": 8, "repetitions": 1, "tuner": "odd"})


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
