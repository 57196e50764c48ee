"""Made-up results with known numbers: what the store would hand to the report."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchfw.records import Budget, Outcome, Record, Result, Run, Spec, Status, Trial


def make_result(
    kind: str,
    problem: str,
    method: str,
    repetition: int,
    records: Sequence[Record],
    *,
    status: Status = Status.DONE,
    reason: str = "",
    target: Mapping[str, float] | None = None,
    params: Mapping[str, object] | None = None,
    use: str = "",
    backend: str = "numpy",
    number: int = 0,
) -> Result:
    spec = Spec(use=use or method, params=params or {}, label=method)
    trial = Trial(
        kind=kind,
        problem=Spec(use=problem, label=problem),
        method=spec,
        backend=backend,
        repetition=repetition,
        seed=41,
        budget=Budget(iterations=100),
        target=target or {},
    )
    return Result(id=number, trial=trial, outcome=Outcome(status, reason, tuple(records)))


def make_curve(
    metric: str, values: Sequence[float], *, seconds: float = 1.0, cost: float = 10.0, iterations=None
) -> list[Record]:
    """Records of one metric at iterations 0, 1, 2, … (or those given), so many seconds and cost each."""
    steps = range(len(values)) if iterations is None else iterations
    return [
        Record(metric, int(step), seconds * step, cost * step, float(value))
        for step, value in zip(steps, values, strict=True)
    ]


def make_draws(
    variance: float, *, bias: float | None = 0.0, draws: int = 100, seconds: float = 1.0, cost: float = 2.0
) -> list[Record]:
    """The last records of an estimator: so many seconds and so much cost a draw."""
    found = {"variance": variance, "variance_std_error": 0.05 * variance}
    if bias is not None:
        found = {"bias": bias, "mse": variance + bias**2, **found}
    return [Record(name, draws, seconds * draws, cost * draws, value) for name, value in found.items()]


def make_run(**changes: object) -> Run:
    settings: dict[str, object] = {
        "id": 7,
        "suite": "quickstart",
        "title": "Quickstart",
        "store": Path("reports/benchfw.sqlite"),
        "started": "2025-03-01T12:00:00+00:00",
        "finished": "2025-03-01T12:01:00+00:00",
        "counts": {"done": 3},
        "text": 'title = "Quickstart"\nseed = 7\n',
        "environment": {"cpu": {"model": "Example 3000", "threads": 2}, "versions": {"numpy": "2.3.0"}},
    }
    return Run(**{**settings, **changes})


def realistic_results(
    problems: Sequence[str] = ("least-squares condition=100", "logistic-regression"),
    optimizers: int = 8,
    estimators: int = 6,
    repetitions: int = 5,
    last: int = 3000,
) -> list[Result]:
    """A run as a user would see it: two rates of convergence, bounds, one diverged and one failed trial."""
    rng = np.random.default_rng(5)
    steps = np.unique(np.concatenate([[0], np.round(1.05 ** np.arange(math.log(last, 1.05))), [last]]))
    names = ["gd", "heavy-ball momentum=0.9", "nesterov", "sgd step=0.1", "svrg", "saga", "adam", "lbfgs"]
    names = names[:optimizers] + [
        f"sgd step={10.0**-i:.0e} batch={i}" for i in range(optimizers - len(names))
    ]
    results: list[Result] = []
    for problem in problems:
        for index, name in enumerate(names):
            for repetition in range(repetitions):
                results.append(_optimizer(rng, problem, name, index, repetition, steps, len(results)))
        for index in range(estimators):
            size = 4 * 2**index
            label = "exact" if index == estimators - 1 else f"minibatch size={size}"
            for repetition in range(repetitions):
                scale = rng.lognormal(0, 0.03)
                variance = 0.0 if label == "exact" else 400 / size * scale * (1 + 0.2 * repetition)
                bias = 0.4 * rng.normal(1, 0.1) if index == 1 else 0.02 * rng.normal()
                records = make_draws(
                    variance,
                    bias=bias,
                    draws=2000,
                    seconds=2e-5 * (1 + size / 80) * rng.lognormal(0, 0.02),
                    cost=size,
                )
                results.append(
                    make_result("estimator", problem, label, repetition, records, number=len(results))
                )
    return results


def _optimizer(rng, problem, name, index, repetition, steps, number) -> Result:
    rate = 0.998 - 0.0012 * index
    floor = 1e-3 * rng.lognormal(0, 0.4) if name.startswith("sgd") else 1e-14
    start = 3.0 * rng.lognormal(0, 0.1)
    gap = start * rate ** (steps * rng.lognormal(0, 0.04)) + floor
    seconds = 2e-5 * (1 + 0.3 * index) * rng.lognormal(0, 0.05)
    cost = 100.0 if index in {0, 1, 2, 7} else 8.0
    records = make_curve("gap", gap, seconds=seconds, cost=cost, iterations=steps)
    records += make_curve("distance", np.sqrt(gap), seconds=seconds, cost=cost, iterations=steps)
    if index == 0:
        records += make_curve("bound:gap", 6.0 * rate**steps, seconds=seconds, cost=cost, iterations=steps)
    if name == "adam" and repetition == 2:
        cut = [r for r in records if r.iteration < 300] + [
            Record("gap", 300, 300 * seconds, 300 * cost, math.nan)
        ]
        return make_result(
            "optimizer",
            problem,
            name,
            repetition,
            cut,
            status=Status.DIVERGED,
            reason="gap is not a number at iteration 300",
            params={"step": 0.1},
            number=number,
        )
    if name == "saga" and repetition == 1 and problem.startswith("logistic"):
        cut = [r for r in records if r.iteration < 3]
        reason = "ValueError: operands could not be broadcast together with shapes (20,) (21,)"
        return make_result(
            "optimizer", problem, name, repetition, cut, status=Status.FAILED, reason=reason, number=number
        )
    return make_result("optimizer", problem, name, repetition, records, number=number)


@pytest.fixture
def run() -> Run:
    return make_run()


@pytest.fixture
def make() -> SimpleNamespace:
    return SimpleNamespace(result=make_result, curve=make_curve, draws=make_draws)


@pytest.fixture
def realistic() -> Callable[..., list[Result]]:
    return realistic_results


@pytest.fixture(scope="session")
def draw_all():
    """Draw also what nobody has come near yet, as printing does."""

    def draw(page) -> None:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        plots = "[...document.querySelectorAll('.plot')]"
        page.wait_for(f"{plots}.every((each) => each.querySelector('.main-svg'))")

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
def quickstart(tmp_path_factory) -> Path:
    """The folder of reports after `benchfw run quickstart --quick`."""
    folder = tmp_path_factory.mktemp("quickstart")
    words = [sys.executable, "-m", "benchfw", "run", "quickstart", "--quick"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=300)
    return folder / "reports"
