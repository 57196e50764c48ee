"""What a report says in sentences: what was seen, with its interval, also where nothing differs."""

from __future__ import annotations

from benchfw.report.text import plural
from benchfw.report.verdicts.estimators import estimator_verdict
from benchfw.report.verdicts.kernels import kernel_verdict
from benchfw.report.verdicts.optimizers import optimizer_verdict
from benchfw.summary.model import Comparison

_VERDICTS = {"optimizer": optimizer_verdict, "estimator": estimator_verdict, "kernel": kernel_verdict}


def verdict(comparison: Comparison) -> str:
    """Return what the run says about the methods of one kind on one problem, in one to three sentences."""
    tallies = comparison.tallies.values()
    if not any(each.started > each.unfinished for each in tallies):
        return f"No trial finished: 0 of {plural(sum(each.trials for each in tallies), 'trial')}."
    return _VERDICTS[comparison.kind](comparison)
