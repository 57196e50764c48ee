"""A toy plugin of one file with a helper beside it, made-up results with known numbers, and a browser."""

import contextlib
import contextvars
import importlib.util
import io
import math
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from benchfw.cli import main
from benchfw.measure import clock
from benchfw.records import (
    Budget,
    Ending,
    Environment,
    Machine,
    Outcome,
    Record,
    Result,
    Run,
    Spec,
    Status,
    Trial,
)
from benchfw.registry import Registry

# the same examples on every machine, and none of them too slow for a busy one
settings.register_profile(
    "benchfw",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # which goes by the clock
)
settings.load_profile("benchfw")

HELPER = '''"""Helps."""

FACTOR = 1.0
'''

PLUGINS = Path(__file__).parent / "plugins"
TOYS = (PLUGINS / "toys.py").read_text(encoding="utf-8")


@pytest.fixture
def plugin_file(tmp_path, monkeypatch):
    """Return a function that writes a plugin file; what it makes Python import is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def write(text=TOYS, name="toys.py"):
        path = Path(tmp_path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def toys(plugin_file):
    """The file of the toy plugin."""
    plugin_file(HELPER, "toy_helper.py")
    return plugin_file()


@pytest.fixture
def registry(toys):
    """A registry with the toys in it."""
    return Registry([str(toys)])


@pytest.fixture
def make_trial():
    """Return a function that makes a trial of the slide on the bowl, changed as asked."""

    def make(**changes):
        given = {
            "kind": "optimizer",
            "problem": Spec("bowl", {"size": 2}, "bowl"),
            "method": Spec("slide", {"step": 0.5}, "slide"),
            "backend": "numpy",
            "repetition": 0,
            "seed": 7,
            "budget": Budget(iterations=10),
        }
        return Trial(**{**given, **changes})

    return make


def make_result(
    kind, problem, method, repetition, records, *,
    status=Status.DONE, reason="", target=None, params=None, use="", backend="numpy", number=0, **outcome,
):  # fmt: skip
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
    ending = Ending.FAULT if status.faulty else Ending.ITERATIONS
    given = {"status": status, "ending": ending, "reason": reason, "records": tuple(records), **outcome}
    return Result(id=number, trial=trial, outcome=Outcome(**given))


def make_curve(metric, values, *, seconds=1.0, cost=10.0, iterations=None, role="metric"):
    """Records of one metric at iterations 0, 1, 2, … (or those given), so many seconds and cost each."""
    steps = range(len(values)) if iterations is None else iterations
    return [
        Record(metric, int(step), seconds * step, cost * step, float(value), role)
        for step, value in zip(steps, values, strict=True)
    ]


def make_draws(variance, *, bias=0.0, draws=100, seconds=1.0, cost=2.0):
    """The last records of an estimator: so many seconds and so much cost a draw."""
    found = {"variance": variance, "variance_std_error": 0.05 * variance, "variance_skewness": 0.0}
    if bias is not None:
        found = {"bias": bias, "mse": variance + bias**2, **found}
    return [Record(name, draws, seconds * draws, cost * draws, value) for name, value in found.items()]


def make_timing(kernel, size, backend, seconds, facts=None, **metrics):
    """A kernel's trial of six blocks; further metrics are seconds too."""
    spread = (0.98, 0.99, 1.0, 1.0, 1.01, 1.02)
    records = [
        Record(name, number, 0.0, 0.0, value * wobble)
        for name, value in {"seconds_per_call": seconds, **metrics}.items()
        for number, wobble in enumerate(spread, 1)
    ]
    result = make_result("kernel", "", kernel, 0, records, backend=backend, facts=facts or {})
    problem = Spec("size", {"size": size}, f"size {size:,}")
    return replace(result, trial=replace(result.trial, problem=problem))


@pytest.fixture
def run():
    return Run(
        id=7,
        suite="quickstart",
        title="Quickstart",
        store=Path("reports/benchfw.sqlite"),
        started="2025-03-01T12:00:00+00:00",
        finished="2025-03-01T12:01:00+00:00",
        counts={"done": 3},
        text='title = "Quickstart"\nseed = 7\n',
        environment=Environment(Machine(processor="Example 3000", cores=2), packages={"numpy": "2.3.0"}),
    )


def realistic_results(
    problems=("least-squares condition=100", "logistic-regression"),
    optimizers=8,
    estimators=6,
    repetitions=5,
    last=3000,
):
    """A run as a user would see it: two rates of convergence, bounds, one diverged and one failed trial."""
    rng = np.random.default_rng(5)
    steps = np.unique(np.concatenate([[0], np.round(1.05 ** np.arange(math.log(last, 1.05))), [last]]))
    names = ["gd", "heavy-ball momentum=0.9", "nesterov", "sgd step=0.1", "svrg", "saga", "adam", "lbfgs"]
    names = names[:optimizers] + [
        f"sgd step={10.0**-i:.0e} batch={i}" for i in range(optimizers - len(names))
    ]
    results = []
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


def _optimizer(rng, problem, name, index, repetition, steps, number):
    rate = 0.998 - 0.0012 * index
    floor = 1e-3 * rng.lognormal(0, 0.4) if name.startswith("sgd") else 1e-14
    start = 3.0 * rng.lognormal(0, 0.1)
    gap = start * rate ** (steps * rng.lognormal(0, 0.04)) + floor
    seconds = 2e-5 * (1 + 0.3 * index) * rng.lognormal(0, 0.05)
    cost = 100.0 if index in {0, 1, 2, 7} else 8.0
    records = make_curve("gap", gap, seconds=seconds, cost=cost, iterations=steps)
    records += make_curve("distance", np.sqrt(gap), seconds=seconds, cost=cost, iterations=steps)
    if index == 0:
        bound = 6.0 * rate**steps
        records += make_curve("gap", bound, seconds=seconds, cost=cost, iterations=steps, role="bound")
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
def make():
    return SimpleNamespace(result=make_result, curve=make_curve, draws=make_draws, timing=make_timing)


@pytest.fixture
def realistic():
    return realistic_results


@pytest.fixture(scope="session")
def run_inline():
    """Return a function that runs `benchfw` in this process and puts back what it changes around itself."""

    def run(words, folder, environment, *, together=False):
        out, err = (
            io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors)
            for errors in ("strict", "backslashreplace")
        )
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out if together else err),
            mock.patch.dict(os.environ, environment, clear=True),
            mock.patch.object(sys, "argv", ["benchfw", *words]),
            mock.patch.object(sys, "path", [str(folder), *sys.path]),
            mock.patch.object(sys, "dont_write_bytecode", True),
            warnings.catch_warnings(action="default"),
            forgotten_modules(folder.parent),
            kept_signals(),
        ):
            code = contextvars.copy_context().run(exit_code)
        for stream in (out, err):
            stream.flush()
        return subprocess.CompletedProcess(
            words, code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()
        )

    return run


def exit_code():
    """Run the command line as `python -m benchfw` would; return its exit code."""
    try:
        main()
    except SystemExit as ended:
        return ended.code or 0
    except Exception:  # noqa: BLE001 - as Python itself does
        traceback.print_exc()
        return 1


@contextlib.contextmanager
def forgotten_modules(folder):
    """Forget afterwards which modules below a folder were imported: the next test has others of that name."""
    importlib.invalidate_caches()  # a file may have been written in the same moment as the last look
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]


@contextlib.contextmanager
def kept_signals():
    """Put back the handlers of signals."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@pytest.fixture
def slept(monkeypatch):
    """Stop the clocks of trials: they go on only by what sleeps, and nothing really sleeps."""
    moments = [0.0]
    for name in ("_host_timer", "perf_counter"):
        monkeypatch.setattr(clock, name, lambda: moments[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: moments.__setitem__(0, moments[0] + seconds))


@pytest.fixture(scope="session")
def browser():
    """A Chromium for all tests of a session: `browser.open(path or address, width)`."""
    path = Path(__file__).parents[1] / "suites" / "tracked" / "_chromium.py"
    spec = importlib.util.spec_from_file_location("_chromium", path)
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    if driver.PROGRAM is None:
        pytest.skip("no chromium to open the page with")
    with driver.Chromium() as opened:
        yield opened
