"""Conformance checks as tests: one test per check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchfw.testing.check import Check
from benchfw.testing.checks import checks_for
from benchfw.testing.running import CheckStatus, run_check
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

        result = run_check(self.subject, self.check)
        if result.status is CheckStatus.SKIPPED:
            pytest.skip(result.detail)
        if result.status is CheckStatus.EXPECTED:
            pytest.xfail(result.detail)
        if result.status is CheckStatus.FAILED:
            pytest.fail(str(result), pytrace=False)


def parametrize_with_checks(
    target: str, plugins: Iterable[str] = (), effort: Effort = TEST_EFFORT, more: Iterable[Check] = ()
) -> pytest.MarkDecorator:
    """Make one test of every check of everything that a target registers; `more` are checks of your own.

    ::

        @parametrize_with_checks("my_package")
        def test_conformance(check):
            check()
    """
    import pytest

    own = tuple(more)
    bound = [
        BoundCheck(subject, check)
        for subject in subjects_of(target, plugins, effort)
        for check in (*checks_for(subject.kind), *own)
        if subject.kind in check.roles
    ]
    return pytest.mark.parametrize("check", bound, ids=str)
