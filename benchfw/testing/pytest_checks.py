"""Conformance checks as tests: one test a check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchfw.testing.check import Check, checks_for
from benchfw.testing.running import Ending, run_check
from benchfw.testing.subject import Effort, Subject
from benchfw.testing.target import subjects_of

if TYPE_CHECKING:
    import pytest

TEST_EFFORT = Effort(seconds=1.0, iterations=200)


class BoundCheck:
    """A check of one plugin, to be called by a test."""

    def __init__(self, subject: Subject, check: Check) -> None:
        self.subject = subject
        self.check = check

    def __str__(self) -> str:
        return f"{self.subject}: {self.check.name}".replace(" ", "-")

    def __call__(self) -> None:
        """Pass, fail, skip or fail as expected, in pytest's words."""
        import pytest

        outcome = run_check(self.subject, self.check)
        if outcome.ending is Ending.SKIPPED:
            pytest.skip(outcome.detail)
        if outcome.ending is Ending.EXPECTED:
            pytest.xfail(outcome.detail)
        if outcome.ending is Ending.FAILED:
            pytest.fail(str(outcome), pytrace=False)


def parametrize_with_checks(
    target: str, plugins: Iterable[str] = (), effort: Effort = TEST_EFFORT
) -> pytest.MarkDecorator:
    """Make one test of every check of everything that a target registers.

    ::

        @parametrize_with_checks("my_package")
        def test_conformance(check):
            check()
    """
    import pytest

    bound = [
        BoundCheck(subject, check)
        for subject in subjects_of(target, plugins, effort)
        for check in checks_for(subject.kind)
    ]
    return pytest.mark.parametrize("check", bound, ids=str)
