"""Plugins that are broken on purpose: each is found, by the checks that are meant for it and by no other."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from fixtures.command import working_in
from fixtures.golden import read_cases, write_again

from benchfw.testing import CheckStatus, Effort, run_check, run_checks, subjects_of
from benchfw.testing.checks import CHECKS

GOOD = Path(__file__).parent / "good"
FILE = Path(__file__).with_name("broken.toml")
KINDS = ["optimizer", "estimator", "problem", "distribution", "kernel", "backend"]
CASES = read_cases(FILE, KINDS)
EFFORT = Effort(seconds=0.5, iterations=100)


def break_plugin(case):
    """Return the text of the good plugin after the changes of a case."""
    text = (GOOD / ("backend.py" if case.door == "backend" else "everything.py")).read_text("utf-8")
    start = re.search(rf"(class|def) {case.group}\b", text, re.IGNORECASE).start()
    before, text = text[:start], text[start:]
    for change in case.text.split(" || "):
        old, new = change.split(" -> ")
        assert old in text
        text = text.replace(old, new, 1)
    return before + text


def answer(case, folder):
    """Return what the checks say of the broken plugin: the name of each that fails, and its sentence."""
    (folder / "broken.py").write_text(break_plugin(case), "utf-8")
    subject = f"{case.door} {case.group}"
    with working_in(folder, {}):
        subjects = [each for each in subjects_of("broken.py", effort=EFFORT) if str(each) == subject]
        results = list(run_checks(subjects))
    failed = [each for each in results if each.status is CheckStatus.FAILED]
    if failed[0].check.name == "meets-a-problem":
        later = results[results.index(failed[0]) + 1 :]
        assert {each.detail for each in later} == {"it does not run yet: see meets-a-problem above"}
    return "\n".join(str(each).removeprefix(f"failed: {subject}: ") for each in failed)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.sampled(20)
def test_a_broken_plugin_is_found_by_the_check_that_is_meant_for_it_and_by_no_other(case, tmp_path):
    said = answer(case, tmp_path)
    assert case.agrees(said), f"{said}\n{FILE.name} is written again by `make frozen`"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["everything", "backend"])
def test_a_good_plugin_of_each_kind_passes(name):
    results = run_checks(subjects_of(str(GOOD / f"{name}.py"), effort=EFFORT))
    assert not [str(each) for each in results if each.status is CheckStatus.FAILED]


AUTHORS = '''
from dataclasses import dataclass
from benchfw import Estimator, Smooth, hookimpl


@dataclass(frozen=True)
class Walk:
    """Steps along an estimator."""

    estimator: Estimator
    """What draws."""
    solves = Smooth

    def run(self, problem, rng): ...


@dataclass(frozen=True)
class Free:
    """Gradient descent where nothing is forbidden."""

    solves = Smooth
    projects = False

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.1 * problem.grad(x)


@dataclass(frozen=True)
class Idle:
    """Neither yields nor solves."""

    solves = Smooth


@dataclass(frozen=True)
class Tireless:
    """A solver that is not told how long to work."""

    solves = Smooth

    def solve(self, problem, rng):
        return problem.start()


@hookimpl
def register_optimizers(register):
    for each in (Walk, Free, Idle, Tireless):
        register(each.__name__.lower(), each)
'''


def test_an_author_is_told_what_to_write(plugin_file):
    subjects = {each.entry.name: each for each in subjects_of(str(plugin_file(AUTHORS, "authors.py")))}

    def result(name, check):
        (found,) = (each for each in CHECKS if each.name == check and "optimizer" in each.roles)
        return run_check(subjects[name], found)

    walk = result("walk", "defaults")
    assert walk.detail.endswith("estimator must be given")
    assert walk.advice.endswith('in the class: check_with = ({"estimator": {"use": "…"}},)')
    assert "box" not in {each.name for each in subjects["free"].settings}
    assert result("free", "stays-feasible").status is CheckStatus.SKIPPED
    assert result("free", "improves").status is CheckStatus.PASSED
    idle = result("idle", "meets-a-problem")
    assert idle.advice == (
        "define run(self, problem, rng), or solve(self, problem, rng, effort) of a solver that cannot yield"
    )
    tireless = result("tireless", "meets-a-problem")
    assert "does not take (problem, rng, effort)" in tireless.detail


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        write_again(FILE, CASES, [answer(case, Path(name).resolve()) for case in CASES])
