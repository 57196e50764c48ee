"""Methods that do not run: the fault is told once, by the check that it belongs to, and nothing hangs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from benchfw.testing import CheckStatus, Effort, run_checks, subjects_of

EFFORT = Effort(seconds=0.05, iterations=20)

OPTIMIZER = '''
import numpy as np
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Bad:
    """Gradient descent."""
    step: float = 0.1
    """Step length."""
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))

@hookimpl
def register_optimizers(register):
    register("bad", Bad)
'''
YIELD, STEP, SOLVES = "yield x", "problem.grad(x)", "solves = Smooth"

FAULTS = {
    "raises": (STEP, "[][3]", "it raised IndexError: list index out of range (bad.py, line 17)"),
    "raises deep in NumPy": (STEP, "np.linalg.inv(x)", "(bad.py, line 17)"),
    "leaves": (STEP, "exit(3)", "it raised SystemExit: 3 (bad.py, line 17)"),
    "unknown oracle": (STEP, "problem.gradient(x)", "has no attribute 'gradient' (bad.py, line 17)"),
    "no yield": (YIELD, "return", "run() of Bad returned NoneType, not a generator; use yield"),
    "an array": (
        YIELD,
        "return x",
        "run() of Bad returned ndarray, not a generator; use yield",
    ),
    "no answer": (YIELD, "return; yield", "the method yielded no answer; run() must yield the start first"),
    "a tuple": (
        YIELD,
        "yield x, 1",
        "run() of Bad yields tuple, which metrics() of quadratic cannot measure",
    ),
    "nothing": (YIELD, "yield", "run() of Bad yields NoneType, which metrics() of quadratic cannot measure"),
    "endless": (YIELD, "pass", "it was stopped after 1 s (bad.py, line "),
    "no run": (
        "def run",
        "def walk",
        "But Bad has no run(). To do: define run(self, problem, rng), or solve(",
    ),
    "no rng": ("problem, rng", "problem", "But run(problem) does not take (problem, rng): too many"),
    "a string": (
        SOLVES,
        "solves = 'Smoooth'",
        "But solves is 'Smoooth', which is not an oracle protocol. To do:",
    ),
    "no protocol": (SOLVES, "solves = int", "But solves is int, which is not an oracle protocol. To do:"),
    "solves nothing": (SOLVES, "", "But solves is None, which is not an oracle protocol. To do:"),
}


def outcomes(path, only=None, timeout=60.0):
    return list(run_checks(subjects_of(str(path), effort=replace(EFFORT, timeout=timeout)), only))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_method_that_does_not_run_is_reported_once_and_nothing_else_of_it_is_checked(plugin_file, fault):
    before, after, told = FAULTS[fault]
    found = outcomes(
        plugin_file(OPTIMIZER.replace(before, after), "bad.py"), timeout=1.0 if fault == "endless" else 60.0
    )
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert failed.check.name == "meets-a-problem"
    assert told in str(failed)
    later = found[found.index(failed) + 1 :]
    assert {each.status for each in later} == {CheckStatus.SKIPPED}
    assert {each.detail for each in later} == {"it does not run yet: see meets-a-problem above"}


def test_a_check_gives_its_advice_only_where_it_has_failed_itself(plugin_file):
    path = plugin_file(OPTIMIZER.replace(STEP, "1 / 0"), "bad.py")
    (failed,) = outcomes(path, "improves")
    assert "ZeroDivisionError" in str(failed)
    assert "To do" not in str(failed)


def test_a_fault_that_comes_later_is_reported_once_too(plugin_file):
    text = OPTIMIZER.replace("while True", "for step in range(99)").replace(
        STEP, "[problem.grad(x)][step > 9]"
    )
    found = {each.check.name: each for each in outcomes(plugin_file(text, "bad.py"))}
    assert [name for name, each in found.items() if each.status is CheckStatus.FAILED] == ["stays-feasible"]
    assert found["improves"].status is CheckStatus.SKIPPED
    assert found["improves"].detail == "the same fault: see stays-feasible above"


def test_a_method_that_hangs_is_not_charged_to_the_one_beside_it(plugin_file):
    endless = OPTIMIZER[OPTIMIZER.index("@dataclass") : OPTIMIZER.index("@hookimpl")].replace(
        "Bad", "Endless"
    )
    text = OPTIMIZER.replace("@hookimpl", endless.replace(YIELD, "pass") + "@hookimpl")
    text += '    register("endless", Endless)\n'
    good, _ = subjects_of(str(plugin_file(text, "two.py")), effort=Effort(timeout=2.0))
    (found,) = run_checks([good], "remembers-nothing")
    assert found.status is CheckStatus.PASSED, str(found)


def test_a_method_that_runs_only_after_others_is_found(plugin_file):
    text = OPTIMIZER.replace(
        YIELD, "type(self).met.append(type(problem).__name__); assert self.met[0] == 'Quadratic'; yield x"
    ).replace(SOLVES, SOLVES + "; met = []")
    (found,) = outcomes(plugin_file(text, "bad.py"), "remembers-nothing")
    assert "in a new process it raised AssertionError" in found.detail


def test_a_draw_that_is_no_function_of_the_parameters_is_reported_as_a_trial_reports_it(plugin_file):
    text = """
from dataclasses import dataclass
from benchfw import Claims, Smooth, hookimpl

@dataclass(frozen=True)
class Bad:
    solves, estimates, claims = Smooth, "grad", Claims(unbiased=True)

    def draw(self, problem, rng):
        return RESULT

@hookimpl
def register_estimators(register):
    register("bad", Bad)
"""
    told = {
        "None": "draw() of Bad gave NoneType; it must return a function of the parameters",
        "[].append": "the function that draw() of Bad returned gave None instead of a number or an array",
        "type": "Bad drew object values; estimates are real numbers",
    }
    for result, sentence in told.items():
        (found,) = outcomes(plugin_file(text.replace("RESULT", result), "bad.py"), "meets-a-problem")
        assert found.detail == sentence


def test_the_parameters_that_a_suite_may_set_are_named(plugin_file):
    (found,) = outcomes(plugin_file(OPTIMIZER, "good.py"), "defaults")
    assert found.detail == "step"
    (found,) = outcomes(plugin_file(OPTIMIZER.replace("step: float", "step"), "bad.py"), "defaults")
    assert found.detail == "it has no parameters"


def test_the_portable_spelling_of_what_strict_arrays_refuse_is_shown(plugin_file):
    text = OPTIMIZER.replace(STEP, "(problem.grad(x) + 0 * x.sum())")
    (found,) = outcomes(plugin_file(text, "bad.py"), "no-mix-up")
    assert found.status is CheckStatus.SKIPPED
    assert "write xp.sum(x) with xp = problem.backend.xp, or check it on a machine with a GPU" in found.detail


def test_a_process_with_threads_that_has_answered_is_gone(plugin_file):
    threaded = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    before = set(psutil.Process().children())
    subjects = subjects_of(str(plugin_file(threaded + OPTIMIZER, "threaded.py")), effort=Effort(seconds=0.05))
    (found,) = run_checks(subjects, "remembers-nothing")
    assert found.status is CheckStatus.PASSED
    assert set(psutil.Process().children()) <= before


PROBLEM = '''
from benchfw import CountedProblem

class Bowl(CountedProblem):
    """A bowl."""

    def __init__(self, backend, rng):
        self.backend, self.center = backend, rng.standard_normal(5)

    def start(self):
        return 0 * self.center

    def value(self, params):
        self._count(0.5)
        return float(((params - self.center) ** 2).sum()) / 2

    def grad(self, params):
        self._count(1)
        return params - self.center

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"gap": float(((answer - self.center) ** 2).sum()) / 2}

@hookimpl
def register_problems(register):
    register("bowl", Bowl)
'''
BROKEN_PROBLEMS = {
    "no metrics": ("return {", "{", "metrics-finite", "metrics() of Bowl returned None; return a number"),
    "an array": (
        "float(((answer - self.center) ** 2).sum()) / 2",
        "answer",
        "metrics-finite",
        "metrics() of Bowl gives an array of shape (5,) for gap",
    ),
    "words": (
        "float(((answer - self.center) ** 2).sum()) / 2",
        "'0.5'",
        "metrics-finite",
        "metrics() of Bowl gives a str for gap; each metric is one number",
    ),
    "too large": (
        "float(((answer - self.center) ** 2).sum()) / 2",
        "10**400",
        "metrics-finite",
        "metrics() of Bowl gives an int beyond 1.8e308 for gap",
    ),
    "one number": (
        'return {"gap": float(((answer - self.center) ** 2).sum()) / 2}',
        "return ((answer - self.center) ** 2).sum() / 2",
        "metrics-finite",
        "metrics() of Bowl returned a float64; return a number for each name",
    ),
    "a list": (
        "return params - self.center",
        "return list(params - self.center)",
        "shapes-kept",
        "grad returned a list, the parameters are an array of shape (5,)",
    ),
    "wrong shape": (
        "return params - self.center",
        "return (params - self.center)[:, None]",
        "shapes-kept",
        "grad has shape (5, 1), the parameters have (5,)",
    ),
}


@pytest.mark.parametrize("fault", BROKEN_PROBLEMS)
def test_what_is_wrong_with_a_problem_is_said_of_it_and_not_of_the_methods_beside_it(plugin_file, fault):
    before, after, check, told = BROKEN_PROBLEMS[fault]
    found = outcomes(plugin_file(OPTIMIZER + PROBLEM.replace(before, after), "bad.py"))
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert (failed.subject, failed.check.name) == ("problem bowl", check)
    assert told in failed.detail
    (met,) = (each for each in found if each.check.name == "meets-a-problem")
    assert f"; not on bowl: {told}" in met.detail


@pytest.mark.parametrize("fault", ["no metrics", "a list"])
def test_what_is_wrong_on_every_backend_is_said_of_the_host(plugin_file, fault):
    before, after, check, _ = BROKEN_PROBLEMS[fault]
    other = (Path(__file__).parent / "broken" / "own_words.py").read_text()
    other = other.replace(
        "return np.asarray(values)", "return values if np.isscalar(values) else values.view(np.ndarray)"
    )
    path = plugin_file(OPTIMIZER + PROBLEM.replace(before, after) + other, "bad.py")
    bowl, bad = (each for each in subjects_of(str(path), effort=EFFORT) if each.kind != "backend")
    found = list(run_checks([bowl, bad]))
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert (failed.subject, failed.check.name) == ("problem bowl", check)
    (met,) = (each for each in found if each.check.name == "every-backend" and each.subject == str(bad))
    assert "own-words" in met.detail


def test_a_gradient_that_belongs_to_no_value_may_have_a_shape_of_its_own(plugin_file):
    text = PROBLEM.replace("return params - self.center", "return (params - self.center)[:, None]")
    text = "from benchfw import hookimpl\n" + text.replace("def value", "def energy")
    (found,) = outcomes(plugin_file(text, "own.py"), "shapes-kept")
    assert found.status is CheckStatus.PASSED, str(found)


def test_a_method_whose_only_problem_is_broken_is_told_which_one(plugin_file):
    text = OPTIMIZER.replace("solves = Smooth", "solves = Deep").replace(
        "@dataclass", "class Deep(Smooth, Protocol):\n    def dig(self): ...\n\n@dataclass"
    )
    problem = PROBLEM.replace("    def start", "    def dig(self): ...\n\n    def start")
    text = "from typing import Protocol\n" + text + problem.replace("return {", "{")
    found = [each for each in outcomes(plugin_file(text, "bad.py")) if each.subject == "optimizer bad"]
    assert not [each for each in found if each.status is CheckStatus.FAILED]
    (met,) = (each for each in found if each.check.name == "meets-a-problem")
    assert met.detail.startswith("no problem that it could meet works yet (bowl: metrics() of Bowl returned")


def test_an_answer_of_another_shape_than_the_start_is_told_as_a_trial_tells_it(plugin_file):
    path = plugin_file(OPTIMIZER.replace(YIELD, "yield x[:, None]"), "bad.py")
    (failed,) = outcomes(path, "meets-a-problem")
    assert failed.detail == (
        "on Quadratic answer 0 has shape (6, 1), the start has (6,); yield answers like the start"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("problem.optimum = x", "But it changed problem.optimum on quadratic. To do: leave the problem's"),
        (
            "problem._least = -1.0",
            "But it changed the problem: answer 0 has other metrics than before, on quadratic. To do: leave",
        ),
    ],
)
def test_a_method_that_changes_its_problem_is_told_so_and_not_that_its_answers_change(
    plugin_file, change, told
):
    path = plugin_file(OPTIMIZER.replace(YIELD, f"yield x; {change}"), "bad.py")
    (failed,) = outcomes(path, "inputs-kept")
    assert told in str(failed)
