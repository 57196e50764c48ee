"""Conformance checks for authors of plugins: what a problem, a method, a law or a kernel must hold.

`benchfw check TARGET` runs them, and in tests of a package of your own::

    from benchfw.testing import parametrize_with_checks

    @parametrize_with_checks("my_package")
    def test_conformance(check):
        check()

A plugin's class may say more: `check_with = ({"size": 20},)` are the tables, as in a suite, that the checks
build it from (its defaults if it says nothing); `expected_failures = {"check": "why"}` are gaps that are
known, and fail once they are closed; an estimator's `averages = "probes"` names the parameter in which its
variance falls like 1/M, and `bias_order = ("steps", 2)` how its bias falls.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchfw.testing.check import Check, CheckFailed, NotApplicable, define_check
    from benchfw.testing.checks import checks_for
    from benchfw.testing.problems import Effort, Setting
    from benchfw.testing.pytest_plugin import parametrize_with_checks
    from benchfw.testing.running import CheckResult, CheckStatus, run_check, run_checks
    from benchfw.testing.subject import Subject, subjects_of

__all__ = [
    "Check",
    "CheckFailed",
    "CheckResult",
    "CheckStatus",
    "Effort",
    "NotApplicable",
    "Setting",
    "Subject",
    "checks_for",
    "define_check",
    "parametrize_with_checks",
    "run_check",
    "run_checks",
    "subjects_of",
]

_PLACES = {
    "check": ("Check", "CheckFailed", "NotApplicable", "define_check"),
    "checks": ("checks_for",),
    "problems": ("Effort", "Setting"),
    "pytest_plugin": ("parametrize_with_checks",),
    "running": ("CheckResult", "CheckStatus", "run_check", "run_checks"),
    "subject": ("Subject", "subjects_of"),
}


def __getattr__(name: str) -> Any:
    # every pytest run of an environment imports this package, for its plugin: it should cost nothing
    for module, names in _PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"benchfw.testing.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
