"""Every kind of sentence that the report says, word for word.

`REFRESH_WORDS=1 pytest tests/report/test_words.py` writes words.txt again; read the difference first.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.records import Record, Status
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.phrases import fault_advice, fault_names, fault_sentence
from benchfw.summary.summarize import summarize

WORDS = Path(__file__).parent / "words.txt"
WOBBLE = (0.97, 1.0, 1.01, 1.03, 0.99)


def optimizer(make, name, cost, *, seconds=1.0, arrive=5, runs=5, **more):
    """Runs of which the first `arrive` meet the target at about this cost; `gd` wobbles the other way."""
    paces = [wobble ** (-1 if name == "gd" else 1) for wobble in WOBBLE]
    return [
        make.result(
            "optimizer", "p", name, r,
            make.curve("gap", [9, 0.5 if r < arrive else 5], cost=cost * pace, seconds=seconds * pace),
            target={"gap": 1.0},
            **more,
        )
        for r, pace in enumerate(paces[:runs])
    ]  # fmt: skip


def estimator(make, name, variance, *, seconds=1.0, bias=0.0, claim=True, problem="p", runs=5, **more):
    """Trials whose bias wobbles about the one given."""
    found = []
    for r in range(runs):
        off = bias + 0.1 * (WOBBLE[-1 - r] - 1)
        records = make.draws(variance * WOBBLE[r], seconds=seconds, bias=off, **more)
        found.append(make.result("estimator", problem, name, r, records, claims_unbiased=claim))
    return found


def swept(make, factor):
    """Two families at three means, the second with so many times the variance of the first."""
    return [
        replace(each, trial=replace(each.trial, method=replace(each.trial.method, use="cut", params=params)))
        for mean in (5, 10, 20)
        for law, times in (("optimal", 1.0), ("poisson", factor))
        for params in ({"distribution": {"use": law, "mean": mean}},)
        for each in estimator(make, f"{law} {mean}", times / mean)
    ]


def broken(make, name, status, reason, *, records=(), trials=(0, 1), **more):
    return [
        make.result("optimizer", "p", name, r, records, status=status, reason=reason, number=10 + r, **more)
        for r in trials
    ]


def kernel(make, backend, seconds):
    return [
        make.result(
            "kernel", "", "gram", r, [Record("seconds_per_call", 0, 0, 0, seconds * w)], backend=backend
        )
        for r, w in enumerate(WOBBLE)
    ]


def scenes(make):
    """Return the results behind each passage of words.txt."""
    gd = optimizer(make, "gd", 230)
    diverging = make.curve("gap", [9, 50, math.inf])
    return {
        "a clear winner, and methods that never or seldom arrive": gd
        + optimizer(make, "svrg", 100, seconds=0.5)
        + optimizer(make, "adam", 50, arrive=0)
        + optimizer(make, "saga", 500, arrive=3),
        "fewer calls but more time": gd + optimizer(make, "svrg", 100, seconds=3),
        "another is first in time": optimizer(make, "gd", 200)
        + optimizer(make, "svrg", 100)
        + optimizer(make, "lbfgs", 150, seconds=0.25),
        "no difference beyond noise": optimizer(make, "gd", 100) + optimizer(make, "svrg", 100),
        "two runs are too few": optimizer(make, "gd", 200, runs=2) + optimizer(make, "svrg", 100, runs=2),
        "one run": optimizer(make, "gd", 200, runs=1) + optimizer(make, "svrg", 100, runs=1),
        "the reference is first": optimizer(make, "gd", 100) + optimizer(make, "svrg", 300),
        "the reference never arrives": optimizer(make, "gd", 100, arrive=0) + optimizer(make, "svrg", 300),
        "nobody arrives": optimizer(make, "gd", 100, arrive=0) + optimizer(make, "svrg", 300, arrive=0),
        "a method alone": gd,
        "a target where the reference ends": [
            make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 1.17e-5]))
        ],
        "a method that diverges": gd
        + broken(
            make, "sgd", Status.DIVERGED, "gap became inf at iteration 2", records=diverging,
            trials=range(5), params={"step": 0.1}, target={"gap": 1.0},
        ),
        "trials that failed, ran out of time or memory, crashed, or were skipped": gd
        + broken(make, "a", Status.FAILED, "ValueError: shapes (20,) and (21,)")
        + broken(make, "b", Status.TIMEOUT, "no answer within 30 s", records=make.curve("gap", [9, 8]))
        + broken(make, "c", Status.OUT_OF_MEMORY, "more than 2 GiB", records=make.curve("gap", [9, 8]))
        + broken(make, "d", Status.CRASHED, "its process died of signal 11")
        + broken(make, "e", Status.SKIPPED, "cupy: no device", backend="cupy"),
        "nothing finished": broken(make, "gd", Status.FAILED, "ZeroDivisionError: division by zero"),
        "estimators: less variance for the time, and the claim to be unbiased holds": estimator(
            make, "size=16", 3.9
        ) + estimator(make, "size=64", 1.0, seconds=1.4),
        "estimators: no difference": estimator(make, "a", 1.0) + estimator(make, "b", 1.0),
        "estimators: one that is called unbiased and is not": estimator(make, "fair", 3.9)
        + estimator(make, "skewed", 1.0, bias=0.5),
        "estimators: one that is biased and does not hide it": estimator(make, "fair", 3.9)
        + estimator(make, "cut", 1.0, bias=0.5, claim=False)
        + estimator(make, "exact", 0.0),
        "estimators: a bias that is noise among so many": [
            each
            for number in range(12)
            for each in estimator(
                make, f"m{number}", 1.0, problem=f"p{number // 6}", bias=0.0053 * (number == 3)
            )
        ],
        "estimators: none is smaller, and the times are noise": estimator(make, "a", 1.0)
        + [
            each
            for r, pace in enumerate((0.5, 2.0, 1.1, 0.7, 1.6))
            for each in estimator(make, "b", 9.0, seconds=pace)[r : r + 1]
        ],
        "estimators: a method alone": estimator(make, "a", 1.0),
        "estimators: a method alone, of which a few draws carry the variance": estimator(
            make, "a", 1.0, noise=0.4, skewness=8.0
        ),
        "estimators: few draws carry the variance, fewer still, or none differs": estimator(make, "a", 1.0)
        + estimator(make, "heavy", 90.0, noise=0.4, skewness=8.0)
        + estimator(make, "rare", 1e-3, noise=0.9, skewness=9.9)
        + estimator(make, "constant", 0.0, noise=0.0, bias=0.5),
        "estimators: one that breaks": estimator(make, "a", 1.0)
        + estimator(make, "fragile", 0.1)[:4]
        + [
            make.result(
                "estimator", "p", "fragile", 4, [],
                status=Status.FAILED, reason="ZeroDivisionError", number=31,
            )
        ],
        "estimators: one family of a sweep is below the other at every value": swept(make, 3.0),
        "estimators: no family of a sweep is": swept(make, 1.0),
        "estimators: one run": estimator(make, "a", 1.0, runs=1) + estimator(make, "b", 9.0, runs=1),
        "kernels": kernel(make, "numpy", 0.0124) + kernel(make, "cupy", 0.00124),
    }  # fmt: skip


def passage(title, summary):
    """Return all sentences of one summary."""
    lines = [f"# {title}", *map(verdict, summary.comparisons)]
    for fault in summary.faults:
        advice = f" To try: {fault_advice(fault)}." if fault_advice(fault) else ""
        lines.append(f"{fault_names(fault)[0]} ({fault.status.value}): {fault_sentence(fault)}.{advice}")
    return "\n".join(lines) + "\n"


def test_the_words_are_those_that_were_agreed_on(make, run):
    said = "\n".join(passage(title, summarize(run, results)) for title, results in scenes(make).items())
    if os.environ.get("REFRESH_WORDS"):
        WORDS.write_text(said, encoding="utf-8")
        pytest.skip("words.txt is written again")
    assert said == WORDS.read_text(encoding="utf-8")
