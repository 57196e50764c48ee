"""Pages in a browser, the folder of a run of the quickstart, and summaries of methods that were tuned."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.records import Status
from benchfw.search import Choice, Log
from benchfw.summary.summarize import summarize


@pytest.fixture(scope="session")
def draw_all():
    """Draw also what nobody has come near yet, as printing does."""

    def draw(page) -> None:
        plots = "[...document.querySelectorAll('.plot')]"
        drawn = f"{plots}.every((each) => each.querySelector('.main-svg'))"
        # again and again: a page with compressed figures does not hear it before they are unpacked
        page.wait_for(f"window.dispatchEvent(new Event('beforeprint')) && {drawn}")

    return draw


@pytest.fixture
def look(browser, draw_all):
    """Open a page, wait until all is drawn, and close it in the end."""
    pages = []

    def opened(path, width=1400, **options):
        page = browser.open(path, width, **options)
        pages.append(page)
        draw_all(page)
        return page

    yield opened
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory, run_inline) -> Path:
    """The folder of reports after `benchfw run quickstart --quick --repetitions 1`."""
    pytest.importorskip("benchfw_firstorder", reason="the quickstart's methods are not installed")
    folder = tmp_path_factory.mktemp("quickstart")
    words = ["run", "quickstart", "--quick", "--repetitions", "1", "--no-replay", "--jobs", "0"]
    done = run_inline(words, folder, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return folder / "reports"


@pytest.fixture
def tuned(make, run):
    """Return a function that summarizes a run whose methods were tuned, from what each setting takes.

    `methods` has, for each method, the cost to the target at a step and in a tuning run: infinite where it is
    never reached, NaN where the run breaks; `measured` is the metric of these. `verdict` has the cost in its
    `runs`, NaN where they all break; without it, tuning goes on.
    """

    def tuning_trial(name, step, repetition, cost, extra, metric):
        reached, broken = math.isfinite(cost), math.isnan(cost)
        records = make.curve(metric, [9, 0.5 if reached else 5.0 + step], cost=cost if reached else 10.0)
        result = make.result(
            "optimizer", "p", name, repetition, [] if broken else records,
            status=Status.FAILED if broken else Status.DONE, target={"gap": 1.0},
            params={"step": step, **extra}, cost_unit="gradients",
        )  # fmt: skip
        return replace(result, trial=replace(result.trial, tuning=1))

    def build(
        methods,
        verdict=None,
        *,
        space=None,
        trials=16,
        repetitions=3,
        choices=(),
        measured="gap",
        runs=6,
        **allowance,
    ):
        space = space or Log(0.001, 10)
        spaces = {"step": space.table}
        if choices:
            spaces["mode"] = Choice(choices).table
        told = {"trials": trials, "repetitions": repetitions, "tuner": "sobol"}
        told |= {**allowance, "spaces": dict.fromkeys(methods, spaces)}
        results = [
            make.result(
                "optimizer", "p", name, repetition,
                make.curve("gap", [9, 8], cost=10.0) if math.isnan(cost)
                else make.curve("gap", [9, 0.5], cost=cost * (1 + 0.02 * repetition)),
                status=Status.FAILED if math.isnan(cost) else Status.DONE,
                target={"gap": 1.0}, params={"step": 1.0}, cost_unit="gradients",
            )
            for name, cost in (verdict or {}).items()
            for repetition in range(runs)
        ]  # fmt: skip
        for name, takes in methods.items():
            for place in range(trials):
                step = space.value((place + 0.5) / trials)
                extra = {"mode": choices[place % len(choices)]} if choices else {}
                results += [
                    tuning_trial(name, step, each, takes(step, each), extra, measured)
                    for each in range(repetitions)
                ]
        going = replace(run, environment=replace(run.environment, tuning=told))
        return summarize(going, results)

    return build
