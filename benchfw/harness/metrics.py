"""Finds a metric that a suite names and a problem lacks as soon as a trial shows what the problem has.

Only a problem that was built knows its metrics. A trial in the store tells them before anything runs, else
the first that ends: a long run does not go on with a claim, a target or a tuning about nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from benchfw.claims import metric_of
from benchfw.claims.check import split_backend
from benchfw.errors import SuiteError, nearest
from benchfw.harness.agenda import Agenda
from benchfw.plan import ARRIVALS
from benchfw.records import GAP, OBJECTIVE, Outcome, Trial
from benchfw.store import Store
from benchfw.suite import Suite


class _Named(NamedTuple):
    """A metric, where the suite names it, and on which problems with which methods it is needed."""

    metric: str
    place: str
    problems: Collection[str] = ()
    groups: Collection[Collection[str]] = ((),)
    is_target: bool = False


class MetricCheck:
    """What a suite names, checked once for each problem."""

    def __init__(self, suite: Suite, firsts: Iterable[Trial], backends: Collection[str]) -> None:
        self._named = list(_find_names(suite, backends))
        self._gap_made = GAP in suite.target
        self._methods: dict[str, set[str]] = {}
        for first in firsts:
            if first.kind == "optimizer":
                self._methods.setdefault(first.problem.label, set()).add(first.method.label)
        self._left = set(self._methods) if self._named else set()

    def check_stored(self, agenda: Agenda, store: Store) -> None:
        """Check by trials that the store has already, one a problem."""
        known = np.flatnonzero(agenda.stored)
        _, places = np.unique(known // agenda.trials.repetitions, return_index=True)
        for position in known[places].tolist() if self._left else ():
            trial = agenda.trials[position]
            if trial.problem.label in self._left:
                self.check(trial, store.result(int(agenda.stored[position])).outcome)

    def check(self, trial: Trial, outcome: Outcome) -> None:
        """Raise a SuiteError for a metric that the problem of a trial turns out not to have."""
        problem = trial.problem.label
        if problem not in self._left or trial.kind != "optimizer":
            return
        metrics = dict.fromkeys(each.metric for each in outcome.records if each.role != "bound")
        if not metrics:
            return
        self._left.discard(problem)
        with_gap = {*metrics, GAP} if OBJECTIVE in metrics else set(metrics)
        known = with_gap if self._gap_made else set(metrics)
        for each in self._named:
            there = any(self._methods[problem].issuperset(group) for group in each.groups)
            if there and problem in (each.problems or (problem,)) and each.metric not in known:
                raise SuiteError(
                    f"{each.place} '{each.metric}' is not a metric of problem '{problem}'"
                    f"{nearest(each.metric, with_gap if each.is_target else known)}"
                )


def _find_names(suite: Suite, backends: Collection[str]) -> Iterator[_Named]:
    where = suite.where or suite.name
    for name in suite.target:
        yield _Named(name, f"{where}: target", is_target=True)
    metric = suite.tune.metric if suite.tune else ""
    if metric and metric not in {*ARRIVALS, GAP}:
        yield _Named(metric, f"{where}: tune.metric")
    for number, claim in enumerate(suite.claims, 1):
        name = metric_of(claim.quantity) or claim.metric
        if name and claim.test != "untestable":
            groups = [[split_backend(each, backends)[0] for each in group] for group in claim.groups]
            yield _Named(name, f"{where}, [[claim]] {number}:", claim.problems, groups)
