"""For pytest: conformance checks as tests, and a fixture that times a call as kernels are timed everywhere.

Every pytest run of an environment with benchfw in it imports this file: it imports pytest only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchfw.backends import Backend
    from benchfw.testing.check import Check
    from benchfw.testing.problems import Effort
    from benchfw.testing.subject import Subject

SECONDS = 1.0


@pytest.fixture
def benchfw_benchmark(benchmark: Any) -> Callable[..., Any]:
    """Return `time_call(backend, call, *arguments)`, which hands pytest-benchmark the samples of a trial.

    The call is made once beforehand, so that imports and compilation are not in the times, and each block of
    calls ends when the device has done its work. Returns what the call returns.
    """

    def time_call(backend: Backend, call: Callable[..., Any], *arguments: Any) -> Any:
        result = call(*arguments)
        if benchmark.disabled:
            return result
        from benchfw.measure.kernels import timed_blocks
        from benchfw.records import Budget

        blocks = list(timed_blocks(backend, call, arguments, Budget(seconds=SECONDS)))
        readings = iter([reading for block in blocks for reading in (0.0, block.seconds / block.calls)])

        def read() -> float:
            return next(readings)

        benchmark._timer = read  # noqa: SLF001 - it has no other door for samples that were taken elsewhere
        benchmark.extra_info |= {"backend": backend.name, "calls_a_round": blocks[0].calls}
        return benchmark.pedantic(lambda: result, rounds=len(blocks))

    return time_call


class BoundCheck:
    """A check of one plugin, to be called by a test."""

    def __init__(self, subject: Subject, check: Check) -> None:
        self.subject = subject
        self.check = check

    def __str__(self) -> str:
        return f"{self.subject}: {self.check.name}".replace(" ", "-")

    def __call__(self) -> None:
        """Pass, fail, skip or fail as expected, in pytest's words."""
        from benchfw.testing.running import CheckStatus, run_check

        result = run_check(self.subject, self.check)
        if result.status is CheckStatus.SKIPPED:
            pytest.skip(result.detail)
        if result.status is CheckStatus.EXPECTED:
            pytest.xfail(result.detail)
        if result.status is CheckStatus.FAILED:
            pytest.fail(str(result), pytrace=False)


def parametrize_with_checks(
    target: str, plugins: Iterable[str] = (), effort: Effort | None = None, more: Iterable[Check] = ()
) -> pytest.MarkDecorator:
    """Make one test of every check of everything that a target registers; `more` are checks of your own.

    Without `effort` each test of a claim about chance takes a second.

    ::

        @parametrize_with_checks("my_package")
        def test_conformance(check):
            check()
    """
    from benchfw.testing.checks import checks_for
    from benchfw.testing.problems import Effort
    from benchfw.testing.subject import subjects_of

    own, effort = tuple(more), effort or Effort(seconds=1.0, iterations=200)
    bound = [
        BoundCheck(subject, check)
        for subject in subjects_of(target, plugins, effort)
        for check in (*checks_for(subject.kind), *own)
        if subject.kind in check.roles
    ]
    return pytest.mark.parametrize("check", bound, ids=str)
