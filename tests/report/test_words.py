"""Every kind of sentence that the report says, word for word.

`REFRESH_WORDS=1 pytest tests/report/test_words.py` writes words.txt again; read the difference first.
"""

from __future__ import annotations

import ast
import math
import os
import re
import sys
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from benchfw.provenance import Burst, Noise
from benchfw.records import Counting, Ending, Record, Status
from benchfw.report.cell import render_cell
from benchfw.report.exchange.comment import comment
from benchfw.report.first_screen import describe_overall
from benchfw.report.markdown import markdown
from benchfw.report.terminal import plain_lines
from benchfw.report.verdicts import optimizers, verdict
from benchfw.report.verdicts.overall import overall_sentences
from benchfw.report.verdicts.phrases import caveat_sentences, fault_advice, fault_place, fault_sentence
from benchfw.summary.summarize import summarize

WORDS = Path(__file__).parent / "words.txt"
WOBBLE = (0.97, 1.0, 1.01, 1.03, 0.99)


def ending(make, name, end, cost, **more):
    """Runs without a target in the suite, with two metrics."""
    return [
        make.result(
            "optimizer", "p", name, r,
            make.curve("gap", [9, 1, end * pace], cost=cost * pace)
            + make.curve("loss", [9, 2, 1 + end * pace], cost=cost * pace),
            **more,
        )
        for r, pace in enumerate(WOBBLE)
    ]  # fmt: skip


def signed(make, name, end, cost):
    """Runs without a target in the suite, of a metric that becomes negative."""
    return [
        make.result("optimizer", "p", name, r, make.curve("loss", [9, 1, end + 3 * pace], cost=cost * pace))
        for r, pace in enumerate(WOBBLE if name == "gd" else WOBBLE[::-1])
    ]


def sizes(make, device, runs):
    """A kernel at two sizes, in proportion to the size on the host."""
    return [
        make.timing("scale", size, backend, seconds * pace, facts=facts, repetition=r)
        for size in (10**4, 10**6)
        for backend, seconds in (("numpy", 2e-9 * size), ("cupy", device))
        for facts in [
            {
                "flops_per_call": 3.0 * size, "bytes_per_call": 16.0 * size,
                "ceiling_flops_per_second": 5e10, "ceiling_bytes_per_second": 1e12,
                "argument_bytes": 8.0 * size, "peak_bytes": 16.0 * size,
            }
        ]
        for r, pace in enumerate(WOBBLE[:runs])
    ]  # fmt: skip


def optimizer(make, name, cost, *, seconds=1.0, arrive=5, runs=5, problem="p", **more):
    """Runs of which the first `arrive` meet the target at about this cost; `gd` wobbles the other way."""
    paces = [wobble ** (-1 if name == "gd" else 1) for wobble in WOBBLE]
    return [
        make.result(
            "optimizer", problem, name, r,
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


def swept(make, factor, *rivals, **rare):
    """Families at three means, each but the first with so many times the variance of the one before it."""
    return [
        replace(each, trial=replace(each.trial, method=replace(each.trial.method, use="cut", params=params)))
        for mean in (5, 10, 20)
        for number, law in enumerate(("optimal", *(rivals or ("poisson",))))
        for params in ({"distribution": {"use": law, "mean": mean}},)
        for each in estimator(make, f"{law} {mean}", factor**number / mean, **(rare if number else {}))
    ]


def swept_runs(make, factor, pace=1.0):
    """Two families of optimizers at three sizes: ten runs, of which the second needs a fraction each."""
    return [
        make.result(
            "optimizer", "p", f"{name} (size={size})", r,
            make.curve("gap", [9, 0.5], cost=size * cost * wobble, seconds=seconds * wobble),
            target={"gap": 1.0}, params={"size": size}, use=name,
        )
        for size in (1, 4, 16)
        for name, cost, seconds in (("sgd", factor, factor * pace), ("svrg", 1.0, 1.0))
        for r, wobble in enumerate((WOBBLE + WOBBLE[::-1])[:: 1 if name == "sgd" else -1])
    ]  # fmt: skip


def moved(results, problem):
    """The same trials on another problem."""
    return [
        replace(
            each, trial=replace(each.trial, problem=replace(each.trial.problem, label=problem, use=problem))
        )
        for each in results
    ]


def over_problems(make):
    """Scenes of several problems."""

    def runs(problem, **costs):
        named = {"gd": 230.0, **costs}
        return [each for name, cost in named.items() for each in optimizer(make, name, cost, problem=problem)]

    level = {"sgd": 230.0, "gd": 230.0}

    def drawn(problem, factor):
        return [*estimator(make, "a", 1.0, problem=problem), *estimator(make, "b", factor, problem=problem)]

    return {
        "over problems: ahead on two, behind on one, within noise on another": [
            *runs("p", sgd=23.0, adam=115.0), *runs("q", sgd=46.0, adam=115.0),
            *runs("r", sgd=460.0, adam=230.0), *runs("s", sgd=230.0, adam=230.0),
        ],
        "over problems: nobody is ahead": [*runs("p", sgd=460.0), *runs("q", sgd=460.0)],
        "over problems: one arrives too seldom for a factor": [
            *runs("p", sgd=23.0), *optimizer(make, "gd", 230.0, arrive=0, runs=5, problem="q"),
            *optimizer(make, "sgd", 23.0, problem="q"),
        ],
        "over problems: one run is too few on one, and nobody arrives on another": [
            *runs("p", sgd=23.0),
            *optimizer(make, "gd", 230.0, runs=1, problem="q"),
            *optimizer(make, "sgd", 23.0, runs=1, problem="q"),
            *optimizer(make, "gd", 230.0, arrive=0, runs=5, problem="r"),
            *optimizer(make, "sgd", 23.0, arrive=0, runs=5, problem="r"),
        ],
        "over problems: methods that do not know their cost": [
            each
            for problem in ("p", "q")
            for name, seconds in (("gd", 4.0), ("sgd", 1.0))
            for each in optimizer(
                make, name, math.nan, seconds=seconds, problem=problem, counting=Counting.UNKNOWN
            )
        ],
        "over problems: estimators": [*drawn("p", 0.1), *drawn("q", 0.2)],
        "over problems: a family of a sweep leads on most": [
            *moved(swept(make, 3.0), "p"), *moved(swept(make, 3.0), "q"), *moved(swept(make, 1 / 3), "r"),
            *moved(swept(make, 1.0), "s"),
        ],
        "over problems: a family of optimizers leads": [
            *moved(swept_runs(make, 3.0), "p"), *moved(swept_runs(make, 3.0), "q"),
        ],
        "over problems: no family leads": [*moved(swept(make, 1.0), "p"), *moved(swept(make, 1.0), "q")],
        "over problems: ratios to different methods": unlike_references(make, (1, 2, 3)),
        "over problems: nobody is ahead of a reference, and some are level with it": [
            *unlike_references(make, (1,)),
            *(
                each
                for problem, costs in {"q": {**level, "svrg": 460.0}, "r": level}.items()
                for name, cost in costs.items()
                for each in optimizer(make, name, cost, problem=problem)
            ),
        ],
        "over problems: a method at one value beside the curves": [
            each
            for problem in ("p", "q")
            for each in moved([*swept(make, 3.0), *swept(make, 3.0, "poisson", "oracle")[10:15]], problem)
        ],
        "over many problems: ratios to different methods": unlike_references(make, range(5)),
    }  # fmt: skip


def unlike_references(make, numbers):
    """Problems whose first method is not the same; on those from 3 on, the second is behind it."""
    return [
        each
        for number in numbers
        for first, second in [("gd", "sgd") if number % 2 else ("sgd", "gd")]
        for name, cost in ((first, 230.0), (second, 23.0 if number < 3 else 460.0))
        for each in optimizer(make, name, cost, problem=f"p{number}")
    ]


def with_cpu_seconds(results, share=0.5):
    """The same trials on a busy machine: the processor worked for a part of their time."""
    return [
        replace(
            each,
            outcome=replace(
                each.outcome,
                records=tuple(one._replace(cpu_seconds=share * one.seconds) for one in each.outcome.records),
            ),
        )
        for each in results
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
        "no difference beyond noise": [
            each
            for name, order in (("gd", 1), ("svrg", -1))
            for r, pace in enumerate((0.5, 2.0, 1.1, 0.7, 1.6)[::order])
            for each in optimizer(make, name, 100 * pace)[r : r + 1]
        ],
        "too few runs to plan from": [
            each
            for name, order in (("gd", 1), ("svrg", -1))
            for r, pace in enumerate((0.2, 5.0, 1.1)[::order])
            for each in optimizer(make, name, 100 * pace)[r : r + 1]
        ],
        "within 10 % in each run": optimizer(make, "gd", 100) + optimizer(make, "svrg", 100),
        "equal in many runs, though not exactly": [
            each
            for name, factor in (("gd", 1.0), ("svrg", 1.02))
            for r in range(30)
            for each in [
                make.result(
                    "optimizer", "p", name, r, make.curve("gap", [9, 0.5], cost=100 * factor + r % 3),
                    target={"gap": 1.0},
                )
            ]
        ],
        "two runs are too few": optimizer(make, "gd", 200, runs=2) + optimizer(make, "svrg", 100, runs=2),
        "one run": optimizer(make, "gd", 200, runs=1) + optimizer(make, "svrg", 100, runs=1),
        "one run of more methods than a sentence has room for": [
            each
            for number, cost in enumerate((200, 190, 180, 170, 160, 150))
            for each in optimizer(make, f"m{number}", cost, runs=1)
        ],
        "the reference is first": optimizer(make, "gd", 100) + optimizer(make, "svrg", 300),
        "the reference never arrives": optimizer(make, "gd", 100, arrive=0) + optimizer(make, "svrg", 300),
        "the reference is first in time, too": optimizer(make, "gd", 100)
        + optimizer(make, "svrg", 100, seconds=3)
        + optimizer(make, "saga", 300, seconds=2),
        "nobody improves": [
            make.result("optimizer", "p", name, r, make.curve("gap", [1, 5, end * pace]))
            for name, end in (("gd", 10), ("svrg", 5))
            for r, pace in enumerate(WOBBLE)
        ],
        "nobody arrives": optimizer(make, "gd", 100, arrive=0) + optimizer(make, "svrg", 300, arrive=0),
        "a method alone": gd,
        "a method alone that seldom arrives": optimizer(make, "gd", 230, arrive=1),
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
        "the best objective known is the end of a run that was still falling": [
            make.result(
                "optimizer", "p", name, r, make.curve("objective", [9, 6, end * pace]),
                target={"gap": 0.5}, ending=how,
            )
            for name, end, how in (("gd", 4, Ending.ITERATIONS), ("newton", 5, Ending.BY_ITSELF))
            for r, pace in enumerate(WOBBLE)
        ],
        "a trial that failed beyond the target has not reached it": broken(
            make, "gd", Status.FAILED, "gap is -0.25 at iteration 1, and it cannot be below 0",
            records=make.curve("gap", [9, -0.25]), target={"gap": 1.0},
        ),
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
        "estimators: one whose biases cancel over the runs, and one that does not hide it": [
            make.result(
                "estimator", "p", name, r,
                make.draws(pace, bias=size * (-1) ** r * pace), claims_unbiased=name == "claimed",
            )
            for name, size in (("claimed", 1.0), ("frank", 2.0))
            for r, pace in enumerate(WOBBLE)
        ],
        "estimators: one whose draws are a chain": [
            make.result(
                "estimator", "p", "chain", r,
                [
                    *(Record("bias", n, n, n, (-1) ** (r + n // 25) * pace) for n in range(10, 100, 10)),
                    *make.draws(pace, bias=(-1) ** r * pace),
                ],
            )
            for r, pace in enumerate(WOBBLE)
        ],
        "estimators: the same draws in every run": estimator(make, "fair", 1.0)
        + [make.result("estimator", "p", "fixed", r, make.draws(2.0)) for r in range(5)],
        "estimators: the other one never finishes": estimator(make, "a", 1.0)
        + [
            make.result(
                "estimator", "p", "b", r, [],
                status=Status.FAILED, reason="RuntimeError: boom", number=10 + r,
            )
            for r in range(5)
        ],
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
        "estimators: of three families one is below, at one value too little is known of the third": (
            swept(make, 3.0, "poisson", "geometric")[:-3]
        ),
        "estimators: one family has so heavy a tail that its variance is known from below only": (
            swept(make, 9.0, skewness=15.0)
        ),
        "estimators: five families, one below the others": swept(make, 3.0, "b", "c", "d", "e", "f"),
        "optimizers: one family of a sweep is ahead of the other at every value": swept_runs(make, 3.0),
        "optimizers: one is ahead in gradients, the other in time": swept_runs(make, 3.0, pace=0.1),
        **over_problems(make),
        "estimators: one run": estimator(make, "a", 1.0, runs=1) + estimator(make, "b", 9.0, runs=1),
        "two of four runs arrive, too few to tell": optimizer(make, "gd", 230, arrive=3, runs=4)
        + optimizer(make, "svrg", 100, arrive=2, runs=4),
        "two runs, of which hardly one arrives": optimizer(make, "gd", 230, arrive=1, runs=2)
        + optimizer(make, "svrg", 100, arrive=0, runs=2),
        "the reference starts at the target": [
            make.result("optimizer", "p", "gd", r, make.curve("gap", [0.5, 0.4]), target={"gap": 1.0})
            for r in range(5)
        ]
        + optimizer(make, "svrg", 100),
        "no target in the suite, and another ends lower": ending(make, "gd", 0.01, 10)
        + ending(make, "svrg", 0.005, 5)
        + ending(make, "saga", 1e-4, 9)
        + ending(make, "lbfgs", 0.0, 9),
        "no target in the suite, and another ends lower in a metric with a sign": signed(make, "gd", -4.0, 10)
        + signed(make, "svrg", -4.1, 5)
        + signed(make, "saga", -4.4, 9),
        "no target in the suite, and another ends at 0 in most runs": [
            make.result("optimizer", "p", name, r, make.curve("errors", [50, end]))
            for name, ends in (("gd", [2] * 9), ("svrg", [0] * 8 + [1]))
            for r, end in enumerate(ends)
        ],
        "no target in the suite, and the first loses it again": [
            make.result(
                "optimizer", "p", name, r,
                make.curve("gap", [9, 1, middle * pace, end * pace], cost=cost),
            )
            for name, middle, end, cost in (
                ("gd", 0.5, 0.01, 10), ("svrg", 0.001, 4.0, 10), ("fast", 0.001, 0.02, 1)
            )
            for r, pace in enumerate(WOBBLE)
        ],
        "no target in the suite, and none but the first has it still": [
            make.result("optimizer", "p", name, r, make.curve("gap", [9, 1, middle, end], cost=cost))
            for name, middle, cost, ends in (
                ("gd", 0.5, 10, [0.01] * 5), ("svrg", 0.001, 5, [0.001, 0.001, 0.02, 4.0, 1.0])
            )
            for r, end in enumerate(ends)
        ],
        "a budget of iterations that cost more": ending(make, "gd", 0.01, 10)
        + ending(make, "five", 1e-4, 50),
        "preparation that costs more than it saves": gd
        + [
            replace(each, outcome=replace(each.outcome, prepare_seconds=0.25, prepare_cost=1000.0))
            for each in optimizer(make, "newton", 10, seconds=0.5)
        ],
        "the reference ends by itself, and another is at 0 then": [
            make.result("optimizer", "p", name, r, make.curve("gap", [9, 1, end]), ending=how)
            for name, end, how in (("exact", 0.01, Ending.BY_ITSELF), ("gd", 0.0, Ending.ITERATIONS))
            for r in range(10)
        ],
        "the reference ends by itself, and another is lower then": ending(
            make, "exact", 0.01, 10, ending=Ending.BY_ITSELF
        )
        + ending(make, "gd", 0.001, 5),
        "the reference ends by itself, and no other is lower then": ending(
            make, "exact", 0.01, 10, ending=Ending.BY_ITSELF
        )
        + ending(make, "gd", 0.01, 10),
        "three runs decide little in a report of many comparisons": [
            each
            for number in range(4)
            for name, cost in (("gd", 230), ("svrg", 100 if number == 0 else 230))
            for each in optimizer(make, name, cost, runs=3, problem=f"p{number}")
        ],
        "no cost is counted": optimizer(make, "gd", 230, counting=Counting.UNCOUNTED)
        + optimizer(make, "svrg", 100, seconds=0.5, counting=Counting.UNCOUNTED),
        "a busy machine": with_cpu_seconds(
            optimizer(make, "gd", 230)
            + optimizer(make, "svrg", 100, seconds=3)
            + optimizer(make, "lbfgs", 300, seconds=0.2)
        ),
        "a busy machine, estimators": with_cpu_seconds(
            estimator(make, "a", 3.9) + estimator(make, "b", 1.0, seconds=1.4)
        ),
        "a busy machine, and one method without CPU seconds": with_cpu_seconds(optimizer(make, "gd", 230))
        + optimizer(make, "svrg", 100, seconds=0.1),
        "kernels": kernel(make, "numpy", 0.0124) + kernel(make, "cupy", 0.00124),
        "kernels at several sizes, one run": sizes(make, 2e-5, 1),
        "kernels at several sizes: faster at some": sizes(make, 2e-4, 3),
        "kernels at several sizes: faster at all": sizes(make, 1e-6, 3),
        "kernels at several sizes: never faster": sizes(make, 1.0, 3),
    }  # fmt: skip


RULES = {
    r"^No method gave a value|^No trial finished|^To try: |: \d+ of \d+ trials?": "Faults",
    r"[Dd]id not finish|\(\d+ diverged\)": "Arrivals",
    r"gave the same records|is not reproducible": "Faults",
    r"the machine was busy|ran \d+ at a time": "Noise of the machine",
    r"CPU time": "Noise of the machine",
    r"[Tt]oo few draws carry|[Nn]ever varied|has variance|drew the same": "What the draws allow",
    r"\d+ of \d+ problems|On none of|^It (is behind|cannot)|^Also ahead|The reference is |^On .* it is ": (
        "Over all problems"
    ),
    r"beyond noise on |10 % on |pair of runs on |^Neither ": "Over all problems",
    r"^On .*(ahead of|(has|needs) .* than )|below all others": "Over all problems",
    r"At every|shown at every|ahead of the others|The same holds|there, by at least": "Sweeps",
    r"[Bb]ias beyond noise|mean is off|[Oo]ff in single runs|depend on each other": "Is it biased?",
    r"(mean squared error|variance) x (CPU )?time": "Which estimator for the time?",
    r"three (paired runs )?are needed|six are needed|too few of their runs": "Too few runs",
    r"[Tt]oo few runs for so many comparisons": "Undecided",
    r"[Nn]o difference beyond noise": "Undecided",
    r"[Ee]qual within 10 %|[Ww]ithin 10 % in each": "Equality",
    r"beyond chance|never reached|is reached by|in any of its runs|too few of their runs": "Arrivals",
    r"some runs start at": "Arrivals",
    r"at least [\d.e+]+ times (fewer|less|more)": "Arrivals",
    r"At the end|In the time that|lowest median end": "Ends",
    r"not counting preparation": "Preparation",
    r"assuming normal noise|^No method .*reaches .* with fewer": "Ratios",
    r"set by the methods' |the lowest start|best objective known": "The target",
    r"\[[\d.]+, [\d.]+\] times|\d times|beyond noise": "Ratios",
    r"\[[\d.]+, [\d.]+\] lower": "Metrics with a sign",
    r"there is no other method|is reached by|call .*takes": "Observed",
    r"reach(es)? .* with [\d., and]+ gradients": "Observed",
}
"""What in a sentence is covered by which rule of docs/statistics.md."""


def run_of(title, run):
    """The run of a scene: on a quiet machine, or where its loop of known work took twice as long."""
    busy = Noise(tuple(Burst(float(at), 0.002, 0.001, 0.001) for at in range(3)))
    return replace(run, noise=busy) if title.startswith("a busy machine") else run


def rules_of(sentence):
    """Return the rules that cover a sentence; every comparison is part of the family, too."""
    found = [rule for pattern, rule in RULES.items() if re.search(pattern, sentence)]
    ratios = {"Ratios", "Metrics with a sign", "Equality", "Undecided"}
    others = {"Is it biased?", "Sweeps"}
    judged = (ratios | others) & {*found} or re.search("beyond chance|at least|is lower in", sentence)
    return list(dict.fromkeys([*found, *(["The family of a report"] if judged else [])]))


def sentences(text):
    """Return the sentences of a text; a point within a number is followed by no space."""
    return [each.removesuffix(".") for each in text.replace("…", "").split(". ") if each]


def passage(title, summary):
    """Return all sentences of one summary, each below the rules that cover it."""
    said = overall_sentences(summary)
    said += [each for comparison in summary.comparisons for each in sentences(verdict(comparison))]
    for fault in summary.faults:
        said.append(f"{fault_place(fault)}: {fault_sentence(fault)}")
        if fault_advice(fault):
            said.append(f"To try: {fault_advice(fault)}")
    falls = any(each.falling for each in summary.comparisons)
    said += caveat_sentences(summary) if summary.jobs > 1 or falls else []
    lines = (f"[{'; '.join(rules_of(each))}]\n{each}." for each in said)
    return "\n".join([f"# {title}", *lines]) + "\n"


def test_the_words_are_those_that_were_agreed_on(make, run):
    said = "\n".join(
        passage(title, summarize(run_of(title, run), results)) for title, results in scenes(make).items()
    )
    beside = replace(run, environment=replace(run.environment, jobs=2))
    said += "\n" + passage("trials beside each other", summarize(beside, optimizer(make, "gd", 230, runs=3)))
    if os.environ.get("REFRESH_WORDS"):
        WORDS.write_text(said, encoding="utf-8")
        pytest.skip("words.txt is written again")
    assert said == WORDS.read_text(encoding="utf-8")


def test_the_sentences_over_all_problems_stand_first_in_every_form_of_a_report(realistic, run):
    summary = summarize(run, realistic())
    said = describe_overall(summary)
    assert " on 2 of " in said
    forms = {
        "terminal": " ".join("\n".join(plain_lines(summary)).split()),
        "Markdown": markdown(summary, run).replace("\\", ""),
        "comment": comment(summary, run).replace("\\", ""),
        "notebook": unescape(render_cell(summary, run, [])),
    }
    for name, text in forms.items():
        first = text.index("least-squares condition=100, optimizers")
        assert 0 <= text.find(" ".join(said.split()).replace("\xa0", " ")[:60]) < first, name


def test_every_sentence_has_a_rule_that_the_manual_explains():
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    manual = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
    for rules, sentence in pairwise(lines):
        if rules.startswith("["):
            assert rules != "[]", f"no rule covers: {sentence}"
            for rule in rules[1:-1].split("; "):
                assert re.search(rf"^(##+ |\*\*){re.escape(rule)}", manual, re.MULTILINE), rule


def test_every_sentence_that_the_code_can_say_is_among_the_words(make, run):
    files = {str(path): path for path in Path(optimizers.__file__).parent.glob("*.py")}
    seen = set()

    def watch(frame, event, _argument):
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return watch

    summaries = [summarize(run_of(title, run), results) for title, results in scenes(make).items()]
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        for summary in summaries:
            passage("", summary)
    finally:
        sys.settrace(before)
    unsaid = [
        f"{path.name}:{node.lineno}"
        for name, path in files.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Return | ast.Expr)
        and any(isinstance(part, ast.JoinedStr) for part in ast.walk(node))
        and not any((name, line) in seen for line in range(node.lineno, node.end_lineno + 1))
    ]
    # sentences on a run as a whole have tests of their own; no scene is known for a part without the whole
    elsewhere = {
        "caveat_sentences",
        "replay_sentence",
        "kernel_caption",
        "typical_note",
        "_part",
        "reference_name",
    }
    assert " ".join(each for each in unsaid if each not in lines_of(elsewhere, files)) == ""


def lines_of(functions, files):
    """Return 'file:line' of every line within the functions."""
    return {
        f"{path.name}:{line}"
        for path in files.values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name in functions
        for line in range(node.lineno, node.end_lineno + 1)
    }
