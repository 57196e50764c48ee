"""Methods that do not run: the fault is told once, by the check that it belongs to, and nothing hangs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil

from benchfw.testing import CheckStatus, Effort, run_checks, subjects_of

EFFORT = Effort(seconds=0.05, iterations=20)

FOLDER = Path(__file__).parents[1]
OPTIMIZER = (FOLDER / "plugins" / "descent.py").read_text("utf-8")
YIELD, STEP, SOLVES = "yield x", "problem.grad(x)", "solves = Smooth"


def outcomes(path, only=None, timeout=60.0):
    return list(run_checks(subjects_of(str(path), effort=replace(EFFORT, timeout=timeout)), only))


def test_a_method_that_never_yields_is_stopped_and_nothing_else_of_it_is_checked(plugin_file):
    found = outcomes(plugin_file(OPTIMIZER.replace(YIELD, "pass"), "bad.py"), timeout=1.0)
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert failed.check.name == "meets-a-problem"
    assert "it was stopped after 1 s (bad.py, line " in str(failed)
    later = found[found.index(failed) + 1 :]
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
        "Descent", "Endless"
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
    subjects = subjects_of(
        str(plugin_file(f"{threaded}\n{OPTIMIZER}", "threaded.py")), effort=Effort(seconds=0.05)
    )
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
BROKEN_METRICS = PROBLEM.replace("return {", "{")
TOLD = "metrics() of Bowl returned None; return a number for each name"


def test_what_is_wrong_with_a_problem_is_said_of_it_and_not_of_the_methods_beside_it(plugin_file):
    found = outcomes(plugin_file(OPTIMIZER + BROKEN_METRICS, "bad.py"))
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert (failed.subject, failed.check.name) == ("problem bowl", "metrics-finite")
    assert TOLD in failed.detail
    (met,) = (each for each in found if each.check.name == "meets-a-problem")
    assert f"; not on bowl: {TOLD}" in met.detail


def test_what_is_wrong_on_every_backend_is_said_of_the_host(plugin_file):
    other = (FOLDER / "testing" / "good" / "backend.py").read_text("utf-8")
    path = plugin_file(OPTIMIZER + BROKEN_METRICS + other, "bad.py")
    bowl, descent = (each for each in subjects_of(str(path), effort=EFFORT) if each.kind != "backend")
    found = list(run_checks([bowl, descent]))
    (failed,) = (each for each in found if each.status is CheckStatus.FAILED)
    assert (failed.subject, failed.check.name) == ("problem bowl", "metrics-finite")
    (met,) = (each for each in found if each.check.name == "every-backend" and each.subject == str(descent))
    assert "host" in met.detail


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
    found = [each for each in outcomes(plugin_file(text, "bad.py")) if each.subject == "optimizer descent"]
    assert not [each for each in found if each.status is CheckStatus.FAILED]
    (met,) = (each for each in found if each.check.name == "meets-a-problem")
    assert met.detail.startswith("no problem that it could meet works yet (bowl: metrics() of Bowl returned")
