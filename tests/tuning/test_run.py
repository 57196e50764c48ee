"""A suite whose methods are tuned: settings are chosen on some seeds, and judged on others."""

from collections import Counter

import pytest

import benchfw
from benchfw import Choice, Log
from benchfw.errors import SuiteError
from benchfw.measure.seeding import data_seed, method_seed
from benchfw.store import Store

SLIDE = {"use": "slide", "step": Log(0.01, 1.9)}

STOP = """
from benchfw import hookimpl
count = 0

@hookimpl
def trial_finished(trial, status):
    global count
    count += 1
    if count == 7:
        raise KeyboardInterrupt
"""


def results_of(result):
    with Store(result.run.store) as store:
        return store.results(result.id)


def settings_of(result, path="step"):
    """Return the values of a parameter in the trials of the verdict, in order."""
    return [each.trial.method.params[path] for each in results_of(result) if not each.trial.tuning]


def test_the_verdict_has_the_setting_that_did_best_in_tuning(tune):
    result = tune()
    tuning = result.tuning
    assert len(tuning) == 8
    best = tuning.loc[tuning["score"].where(tuning["reached"]).idxmin()]
    assert best["chosen"]
    assert tuning["chosen"].sum() == 1
    assert settings_of(result) == [best["step"]] * 3
    assert set(result.summary["step"]) == {best["step"]}
    assert result.counts == {"reached": 3}
    assert sum(result.run.tuning_counts.values()) == 16
    assert set(result.frame["tuning"]) == {0}


def test_tuning_and_the_verdict_share_no_seed(tune):
    result = tune(tune={"trials": 4, "repetitions": 3})
    by_part = {}
    for each in results_of(result):
        seed = data_seed(each.trial)
        by_part.setdefault(each.trial.tuning, set()).update([seed, method_seed(each.trial, seed)])
    assert sorted(by_part) == [0, 1]
    assert sum(map(len, by_part.values())) == len(set().union(*by_part.values()))


def test_a_larger_allowance_runs_only_what_is_new(tune):
    few = tune()
    many = tune(tune={"trials": 16, "repetitions": 2})
    assert few.reused == 0
    assert many.reused in {16, 19}  # with the verdict, if the choice is the same
    steps = [list(each.tuning["step"]) for each in (few, many)]
    assert steps[1][:8] == steps[0]
    again = tune(tune={"trials": 16, "repetitions": 2})
    assert again.reused == again.run.ended == 35


def test_what_was_interrupted_goes_on_and_runs_no_trial_twice(tune, plugin_file):
    stop = plugin_file(STOP, "stop.py")
    with pytest.raises(KeyboardInterrupt, match=r"finished trials kept"):
        tune(plugins=[stop])
    result = tune()
    with Store(result.run.store) as store:
        first = store.run(1)
        keys = [each.trial.key for each in store.results(2)]
        assert store.newest() == 16 + 3  # trials that were ever run
    assert 7 <= first.ended == result.reused <= 16
    assert max(Counter(keys).values()) == 1
    assert settings_of(result) == settings_of(tune(store="other.sqlite"))


def test_what_another_run_has_just_tuned_is_taken_over(tune, monkeypatch):
    reserve, others = Store.reserve, []

    def reserve_late(*given):
        monkeypatch.setattr(Store, "reserve", reserve)
        others.append(tune())
        return reserve(*given)

    monkeypatch.setattr(Store, "reserve", reserve_late)
    result = tune()
    assert (others[0].reused, result.reused, result.run.ended) == (0, 19, 19)
    assert settings_of(result) == settings_of(others[0])


def test_a_claim_about_a_tuned_method_that_was_written_after_its_verdict_says_so(tune):
    claim = {
        "says": "it arrives",
        "method": "slide",
        "quantity": "cost to target",
        "value": {"below": 1e3},
    }
    tune()
    for fresh in (True, False):
        late = tune(claim=[claim], fresh=fresh)
        assert [each["seen"] for each in late.run.environment.claims] == [3]
        assert "not pre-registered" in str(late)
    assert "not pre-registered" not in str(tune(claim=[claim], store="other.sqlite"))


def test_methods_with_equal_spaces_try_the_same_settings_on_every_problem(tune):
    result = tune(
        SLIDE,
        {**SLIDE, "label": "slow", "mode": "slow"},
        problem=[{"use": "bowl"}, {"use": "bowl", "label": "wide", "size": 5}],
    )
    tried = result.tuning.groupby(["problem", "method"])["step"].apply(tuple)
    assert len(tried) == 4
    assert len(set(tried)) == 1


def test_failures_come_last_and_are_no_faults_of_the_run(tune):
    result = tune({"use": "slide", "step": Choice([0.5, 40.0, 1e300])})
    assert result.run.faults == 0
    tuning = result.tuning.set_index("step")
    assert tuning.loc[0.5, "chosen"]
    assert tuning["reached"].to_dict() == {0.5: True, 40.0: False, 1e300: False}


def test_a_nested_parameter_and_one_of_a_list_are_tuned(tune):
    result = tune(
        {
            "use": "slide",
            "step": [0.5, 0.25],
            "estimator": {"use": "noisy", "scale": {"tune": "choice", "values": [0.0, 3.0]}},
        }
    )
    tuning = result.tuning
    assert set(tuning["method"]) == {"slide (step=0.5)", "slide (step=0.25)"}
    assert set(tuning[tuning["chosen"]]["estimator.scale"]) == {0.0}


def test_a_run_says_how_many_trials_it_has_as_soon_as_that_is_known(tune, plugin_file, tmp_path):
    for tuner, there in (("grid", "trials so far"), ("sobol", "of 11 trials")):
        stop = plugin_file(STOP, f"stop_at_{tuner}.py")
        with pytest.raises(KeyboardInterrupt):
            tune(
                plugins=[stop], tune={"trials": 4, "repetitions": 2, "tuner": tuner}, store=f"{tuner}.sqlite"
            )
        with Store(tmp_path / f"{tuner}.sqlite") as opened:
            stopped = opened.run(1)
        assert f"run 1 was stopped: {stopped.ended} {there}; the same" in stopped.standing
    run = tune(tune={"trials": 5, "repetitions": 2, "tuner": "grid"}, store="other.sqlite").run
    assert run.environment.trials == run.ended == 13


def test_a_metric_at_the_end_is_chosen_by_runs_that_do_not_stop_at_the_target(tune):
    result = tune(
        tune={"trials": 4, "repetitions": 1, "metric": "gap", "budget": {"iterations": 3}},
        target={"gap": 1.0},
    )
    assert {each.outcome.records[-1].iteration for each in results_of(result) if each.trial.tuning} == {3}
    tuning = result.tuning
    assert tuning["score"].idxmin() == tuning["chosen"].idxmax()


def test_one_setting_for_all_problems_is_judged_beside_one_a_problem(tune):
    result = tune(
        SLIDE,
        problem=[{"use": "bowl"}, {"use": "bowl", "label": "wide", "size": 5}],
        tune={"trials": 8, "repetitions": 2, "across": "problems"},
    )
    assert set(result.frame["method"]) == {"slide", "slide (one setting)"}
    assert [len(each.cells) for each in result._summary.comparisons] == [2, 2]
    found = {}
    for each in results_of(result):
        if not each.trial.tuning:
            label, step = each.trial.method.label, each.trial.method.params["step"]
            found.setdefault(label, set()).add((each.trial.problem.label, step))
    assert list(found) == ["slide", "slide (one setting)"]
    assert len({step for _, step in found["slide (one setting)"]}) == 1


def test_a_method_declares_its_own_spaces(tune, plugin_file):
    own = plugin_file(
        """
from dataclasses import dataclass
from benchfw import Log, Smooth, hookimpl

@dataclass(frozen=True)
class Ramp:
    step: float = 0.5
    tuning = {"step": Log(0.1, 1.5)}
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - self.step * problem.grad(x)

@hookimpl
def register_optimizers(register):
    register("ramp", Ramp)
""",
        "ramp.py",
    )
    result = tune({"use": "ramp", "tune": "default"}, plugins=[own])
    assert result.tuning["step"].between(0.1, 1.5).all()
    with pytest.raises(SuiteError, match=r"\[\[optimizer\]\] 1: optimizer 'slide' declares no search spaces"):
        tune({"use": "slide", "tune": "default"})


def test_compare_a_dict_and_a_file_choose_the_same(tune, toys, tmp_path):
    by_dict = tune()
    by_call = benchfw.compare(
        "bowl",
        {"use": "slide", "step": Log(0.01, 1.9)},
        plugins=str(toys),
        repetitions=3,
        budget={"iterations": 200},
        target={"gap": 1e-6},
        tune={"trials": 8, "repetitions": 2},
        store=tmp_path / "other.sqlite",
        jobs=0,
        replay=False,
    )
    by_file = tmp_path / "suite.toml"
    by_file.write_text(by_call.to_toml())
    by_file = benchfw.run(by_file, plugins=str(toys), store=tmp_path / "third.sqlite", jobs=0, replay=False)
    records = [
        [
            [(one.metric, one.iteration, one.cost, one.value) for one in each.outcome.records]
            for each in results_of(run)
        ]
        for run in (by_dict, by_call, by_file)
    ]
    assert records[0] == records[1] == records[2]


def test_rows_are_held_out_where_a_metric_of_test_rows_decides(tune, plugin_file):
    rows = plugin_file(
        """
import numpy as np
from benchfw import CountedProblem, hookimpl
from benchfw.data import split

class Line(CountedProblem):
    def __init__(self, backend, rng):
        self.backend, self.slope = backend, rng.random()
        parts = split("line", 0, arrays={"X": np.arange(20.0)[:, None], "y": np.arange(20.0)})
        self.rows = len(parts.train)

    def start(self):
        return np.zeros(1)

    def value(self, x):
        return float((x[0] - self.slope) ** 2)

    def grad(self, x):
        self._count(1)
        return x - self.slope

    def project(self, x):
        return x

    def metrics(self, answer):
        gap = float((answer[0] - self.slope) ** 2)
        return {"gap": gap, "test_error": gap, "trained_on": float(self.rows)}

@hookimpl
def register_problems(register):
    register("line", Line)
""",
        "line.py",
    )
    found = {}
    for target in ("gap", "test_error"):
        result = tune(
            plugins=[rows], problem=[{"use": "line"}], target={target: 1e-4}, store=f"{target}.sqlite"
        )
        for each in results_of(result):
            trained = {one.value for one in each.outcome.records if one.metric == "trained_on"}
            found.setdefault((target, each.trial.tuning), set()).update(trained)
    assert found == {
        ("gap", 0): {18.0},
        ("gap", 1): {18.0},
        ("test_error", 0): {18.0},
        ("test_error", 1): {16.0},
    }


@pytest.fixture
def plain(plugin_file):
    """The file of a problem that does not know its optimum."""
    return plugin_file(
        """
import numpy as np
from benchfw import CountedProblem, hookimpl

class Plain(CountedProblem):
    def __init__(self, backend, rng):
        self.backend = backend

    def start(self):
        return np.ones(2)

    def value(self, x):
        return float(x @ x)

    def grad(self, x):
        self._count(1)
        return x

    def project(self, x):
        return x

    def metrics(self, answer):
        return {"objective": self.value(answer)}

@hookimpl
def register_problems(register):
    register("plain", Plain)
""",
        "plain.py",
    )


def test_a_given_best_objective_makes_the_gap_known_in_tuning(tune, plain):
    known = tune(plugins=[plain], problem=[{"use": "plain", "best": 0.0}])
    assert known.tuning["reached"].any()
    text = str(known)
    assert "gradients to target in tuning" in text
    assert "settings that arrive" in text
    assert "tuned for gradients to gap 1e-06" in text
    assert "not known in tuning" not in text


def test_where_the_target_is_no_gap_a_given_best_objective_changes_nothing_in_tuning(tune, plain):
    text = str(tune(plugins=[plain], problem=[{"use": "plain", "best": 0.0}], target={}))
    assert "tuned for objective at the end" in text
    assert "objective at the end in tuning" in text
