"""How to run: jobs, threads, limits, and what to do with what is in the store already."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from benchfw.backends.threads import default_threads
from benchfw.errors import BenchfwError
from benchfw.harness.cluster import Cluster, Terms
from benchfw.parameters import fits
from benchfw.records import Budget, Isolation
from benchfw.registry import Registry
from benchfw.suite import Suite

BUDGETS_OF_SECONDS = 10.0  # a trial may take so many times its own, metrics and set-up included
GRACE_SECONDS = 60.0


@dataclass(frozen=True)
class Options:
    """How to run, as against what to run; with a cluster, its workers take the place of the jobs.

    0 jobs run the trials in this process, where limits of time and memory do not apply. `isolation` is the
    suite's unless it is given. `keep_in` is a folder for the files and the last answer of each trial.
    """

    jobs: int = 1
    threads: int = field(default_factory=default_threads)
    timeout: float | None = None
    memory: int | None = None
    fresh: bool = False
    retry_failed: bool = False
    fail_fast: bool = False
    cluster: Cluster | None = None
    isolation: Isolation | None = None
    replay: bool = True
    keep_in: str = ""

    def __post_init__(self) -> None:
        limits = (
            ("jobs", self.jobs, 0, 1024),
            ("threads", self.threads, 1, 1024),
            ("memory", self.memory, 1, 2**60),
        )
        for name, value, least, most in limits:
            absent = value is None and name == "memory"
            if not absent and (type(value) is not int or not least <= value <= most):
                raise BenchfwError(f"{name} must be a whole number from {least} to {most:,}, got {value!r}")
        if self.timeout is not None and not (fits(self.timeout, float) and 0 < self.timeout < math.inf):
            raise BenchfwError(f"timeout must be a positive number of seconds, got {self.timeout!r}")
        for name in ("fresh", "retry_failed", "fail_fast", "replay"):
            if not isinstance(getattr(self, name), bool):
                raise BenchfwError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.isolation not in (None, "trial", "worker", "none"):
            raise BenchfwError(f'isolation must be "trial" or "worker", got {self.isolation!r}')
        if self.keep_in and Path(self.keep_in).is_file():
            raise BenchfwError(f"keep must name a folder, and {self.keep_in} is a file; give another")
        if self.jobs == 0 and self.isolation is not None:
            raise BenchfwError(
                "isolation needs worker processes, and 0 jobs have none; leave one of them out"
            )

    def isolation_of(self, suite: Isolation) -> Isolation:
        """Return what keeps trials apart: as asked, or as the suite says."""
        return "none" if self.jobs == 0 else self.isolation or suite

    def timeout_of(self, budget: Budget) -> float | None:
        """Return the seconds after which a trial is ended: as asked, or from its budget of seconds."""
        if self.timeout is None and budget.seconds is not None:
            return BUDGETS_OF_SECONDS * budget.seconds + GRACE_SECONDS
        return self.timeout

    def terms_of(self, suite: Suite, registry: Registry) -> Terms:
        """Return how a cluster is to run every trial of a suite."""
        timeout, isolation = self.timeout_of(suite.budget), self.isolation_of(suite.isolation)
        return Terms(registry, tuple(suite.backends), self.threads, timeout, self.memory, isolation)
