"""How checks end: expected failures, refusals, plugins that cannot be built."""

from __future__ import annotations

import pytest

from benchfw.testing import (
    CheckFailed,
    CheckStatus,
    Effort,
    NotApplicable,
    define_check,
    parametrize_with_checks,
    run_checks,
    subjects_of,
)
from benchfw.testing.check import Check
from benchfw.testing.running import run_check

EFFORT = Effort(seconds=0.05, iterations=20)


def endings(path, only=None):
    return {each.check.name: each for each in run_checks(subjects_of(str(path), effort=EFFORT), only)}


def test_a_declared_failure_shows_with_its_reason(toys):
    toys.write_text(
        toys.read_text().replace(
            '    """Gradient descent."""',
            '    """Slides."""\n\n    expected_failures = {"documented": "short"}',
        )
    )
    (slide,) = [each for each in subjects_of(str(toys), effort=EFFORT) if each.entry.name == "slide"]
    found = {each.check.name: each for each in run_checks([slide], "documented")}
    assert found["documented"].status is CheckStatus.EXPECTED
    assert found["documented"].detail == "short"


def test_a_declared_failure_that_passes_is_a_failure(toys):
    toys.write_text(
        toys.read_text().replace(
            '    """Gradient descent."""', '    """Slides."""\n\n    expected_failures = {"picklable": "old"}'
        )
    )
    (slide,) = [each for each in subjects_of(str(toys), effort=EFFORT) if each.entry.name == "slide"]
    (found,) = run_checks([slide], "picklable")
    assert found.status is CheckStatus.FAILED
    assert "declared to fail (old) and passes. To do: take it out of expected_failures." in str(found)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (CheckFailed("seen"), CheckStatus.FAILED),
        (NotApplicable("no matter"), CheckStatus.SKIPPED),
        (ZeroDivisionError("0"), CheckStatus.FAILED),
    ],
)
def test_whatever_a_plugin_raises_becomes_a_status(toys, fault, status):
    def body(subject):
        raise fault

    subject = subjects_of(str(toys))[0]
    assert run_check(subject, Check("x", ("problem",), "It holds.", "fix it", body)).status is status


def test_what_cannot_be_built_is_reported_once(plugin_file):
    path = plugin_file(
        "from benchfw import Smooth, hookimpl\n\n\nclass Needy:\n"
        '    """Takes a `step`."""\n    solves = Smooth\n\n'
        "    def __init__(self, step: float):\n        pass\n\n\n"
        "@hookimpl\ndef register_optimizers(register):\n    register('needy', Needy)\n"
    )
    found = endings(path)
    assert {each.status for name, each in found.items() if name != "defaults"} == {CheckStatus.SKIPPED}
    assert "step must be given" in str(found["defaults"])
    assert "To do: give every parameter a default" in str(found["defaults"])


def test_a_method_that_refuses_every_problem_fails(plugin_file):
    path = plugin_file(
        "from dataclasses import dataclass\nfrom benchfw import BenchfwError, Smooth, hookimpl\n\n\n"
        '@dataclass(frozen=True)\nclass Proud:\n    """Refuses."""\n    solves = Smooth\n\n'
        "    def run(self, problem, rng):\n        raise BenchfwError('beneath me')\n        yield\n\n\n"
        "@hookimpl\ndef register_optimizers(register):\n    register('proud', Proud)\n"
    )
    assert "beneath me" in endings(path, "meets-a-problem")["meets-a-problem"].detail


def test_a_folder_is_checked_by_the_entry_points_of_its_project(plugin_file, tmp_path, toys):
    toys.rename(tmp_path / "toys_in_folder.py")
    plugin_file('[project.entry-points.benchfw]\ntoys = "toys_in_folder"\n', "pyproject.toml")
    assert {each.entry.name for each in subjects_of(str(tmp_path))} >= {"bowl", "slide", "fixed"}


def test_a_check_of_ones_own_joins_those_of_its_role(toys):
    @define_check("problem", advice="add it")
    def has_a_unit(subject):
        """It has a unit of cost."""

    mark = parametrize_with_checks(str(toys), more=[has_a_unit])
    assert [str(each) for each in mark.args[1] if each.check is has_a_unit] == ["problem-bowl:-has-a-unit"]
