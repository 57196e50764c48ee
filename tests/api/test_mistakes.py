"""benchfw.compare: what is wrong is one sentence, and what was measured is kept."""

import contextlib
import enum
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from fixtures.cells import IN_WORKERS, SMALL, Notebook, ends

import benchfw
from benchfw.api import session
from benchfw.harness.events import Finished

pytestmark = pytest.mark.usefixtures("folder")


class Solver:
    def solve(self, problem, rng):
        return problem.start()


@dataclass(frozen=True)
class Walker:
    step: float = 0.1

    def run(self, problem, rng):
        yield problem.start()


def test_the_command_line_says_that_an_object_is_not_there(notebook, run_inline, folder):
    result = benchfw.compare(notebook["bowl"], notebook["steps"], **SMALL, store="alone.sqlite")
    result.save("alone.zip")
    said = "was an object of a Python session, which is not kept; run the code that made it again"
    for words in (["replay", "1", "--store", "alone.sqlite"], ["run", "--from-bundle", "alone.zip"]):
        done = run_inline(words, folder, dict(os.environ), together=True)
        assert (done.returncode, said in done.stdout) == (2, True), done.stdout
    packed = run_inline(["export", "--bundle", "a.zip", "--store", "alone.sqlite"], folder, dict(os.environ))
    assert "the suite has the source of its session's objects as a comment" in packed.stdout


def test_a_worker_that_dies_does_not_take_the_call_with_it(notebook):
    notebook("""
    def dies(problem, rng):
        yield problem.start()
        os._exit(3)
    """)
    result = benchfw.compare(notebook["bowl"], [notebook["dies"], notebook["steps"]], **IN_WORKERS)
    assert result.counts == {"crashed": 1, "done": 1}
    assert "the worker process ended with exit code 3" in repr(result)
    assert "the worker process ended with exit code 3" in result._repr_html_()


def test_an_interruption_keeps_what_is_finished_and_the_same_call_goes_on(notebook, monkeypatch):
    def interrupt(_title, _progress, *, live):
        seen = []

        def listen(event):
            seen.append(isinstance(event, Finished))
            if sum(seen) == 2:
                raise KeyboardInterrupt

        return contextlib.nullcontext(listen)

    call = {**SMALL, "repetitions": 4, "store": "interrupted.sqlite"}
    with monkeypatch.context() as patched:
        patched.setattr(session, "watch_run", interrupt)
        with pytest.raises(
            KeyboardInterrupt, match="finished trials kept, the same call continues from there"
        ):
            benchfw.compare(notebook["bowl"], notebook["steps"], **call)
    assert "was stopped" in repr(benchfw.load(store="interrupted.sqlite"))
    result = benchfw.compare(notebook["bowl"], notebook["steps"], **call)
    assert result.counts == {"done": 4}
    assert result.reused >= 2


def test_data_with_a_named_loss_need_its_package(monkeypatch):
    features, targets = np.eye(4), np.array([1, -1, 1, -1])
    given = benchfw.problem(features, targets, loss="logistic-regression", ridge=0.1)
    with monkeypatch.context() as patched:
        patched.setattr("benchfw.loading.find_entry_points", lambda _: ())
        patched.setattr("benchfw.registry.registry.find_entry_points", lambda _: ())
        patched.setattr(
            "benchfw.registry.registry.advise_install", lambda *_: "pip install benchfw-firstorder"
        )
        with pytest.raises(
            benchfw.BenchfwError, match=r"loss of problems: .*; pip install benchfw-firstorder"
        ):
            benchfw.compare(given, lambda problem, rng: iter(()))
    pytest.importorskip("benchfw_firstorder")
    result = benchfw.compare({"mine": given}, "gd", **SMALL, store="data.sqlite")
    assert ends(result)["mine", "gd"] < 0.1
    again = benchfw.problem(features, targets, loss="logistic-regression", ridge=0.1)
    assert benchfw.compare({"mine": again}, "gd", **SMALL, store="data.sqlite").reused == 1
    other = benchfw.problem(features, -targets, loss="logistic-regression", ridge=0.1)
    assert benchfw.compare({"mine": other}, "gd", **SMALL, store="data.sqlite").reused == 0


class Mode(enum.IntEnum):
    FAST = 1


class NoOracles:
    pass


class NeedsMore:
    def __init__(self, size):
        self.size = size

    def value(self, x):
        return 0.0

    grad = start = value


def takes_nothing():
    return iter(())


@pytest.mark.parametrize(
    ("problems", "methods", "more", "words"),
    [
        ([], "slide", {}, "problems is empty; give at least one"),
        ("bowl", {}, {}, "methods is empty; give at least one"),
        ("bowls", "slide", {}, "unknown problem 'bowls' in problems; did you mean 'bowl'?"),
        ("bowl", ["slide", "slid"], {}, "methods[1]: unknown method 'slid'; did you mean 'slide'?"),
        ("bowl", 3, {}, "methods is int; a method is a name, an object with run, solve or draw, or"),
        ("bowl", {"a": NoOracles}, {}, "methods['a']: NoOracles has neither run nor solve nor draw"),
        ("bowl", takes_nothing, {}, "methods: takes_nothing takes no parameters; a method is a function of"),
        (NoOracles(), "slide", {}, "problems: NoOracles has no value, grad; a problem is a name, an"),
        (NeedsMore, "slide", {}, "problems: NeedsMore is called with (backend, rng) or with nothing, and"),
        ({"a": {"size": 3}}, "slide", {}, "problems['a'] is a dict without 'use'"),
        ("bowl", {"a": {"use": "slide", "stepp": 1}}, {}, "methods['a']: optimizer 'slide' has no parameter"),
        ("bowl", {"use": "slide", "step": -1.0}, {}, "optimizer slide cannot be built: step must be posit"),
        ("bowl", {"use": "slide", "step": None}, {}, "methods: 'step' is None; give a number, a text"),
        ("bowl", [lambda p: p, lambda p: 2], {}, "methods[1]: another optimizer is called 'function' too"),
        ("bowl", "slide", {"repetitions": 0}, "repetitions must be at least 1, got 0"),
        ("bowl", "slide", {"budget": 3}, "'budget' must hold named values, such as seconds = 10, got 3"),
        ("bowl", "slide", {"target": 1e-3}, "'target' must hold named values, such as gap = 1e-6, got 0.001"),
        ("bowl", "slide", {"tune": 3}, "'tune' must hold named values, such as trials = 32, got 3"),
        ("bowl", {"use": "slide", "seed": 3}, {}, "methods: 'seed' is an argument by itself; move it out"),
        ("bowl", {"use": "slide", "tune": 3}, {}, "an allowance is given once for all methods"),
        ("bowl", {"use": "sgd", "estimator": 3}, {}, "estimator must be a dict with 'use'"),
        ("bowl", "slide", {"target": {"gap": "low"}}, "target gap must be a finite number, got 'low'"),
        ("bowl", "slide", {"backends": 3}, "backends must be a name or a list of names, got 3"),
        ("bowl", "slide", {"backends": "nampy"}, "unknown backend 'nampy'; did you mean 'numpy'?"),
        ("bowl", "slide", {"target": {"gap": -1}}, "target gap cannot be below 0, got -1"),
        ("bowl", "slide", {"jobs": None}, "jobs must be a whole number from 0 to 1,024, got None"),
        ("bowl", "slide", {"fresh": "yes"}, "fresh must be True or False, got 'yes'"),
        ("bowl", "slide", {"keep": __file__}, "keep must name a folder, and"),
        ("bowl", "slide", {"progress": "no"}, "progress must be True, False or None, got 'no'"),
        ("bowl", "slide", {"store": "."}, "cannot be used as a store; use another `store`"),
        ("bowl", {"use": "slide", "step": Mode.FAST}, {}, "methods: 'step' is Mode; give a number, a text"),
        ("bowl", "slide", {"threads": 0}, "threads must be a whole number from 1"),
        ("bowl", "slide", {"memory": "1 pound"}, "memory must be a number of bytes, or a size such as"),
        ("bowl", "slide", {"memory": 0}, "memory must be a number of bytes, or a size such as '2GB', got 0"),
        ("bowl", Solver, {}, "optimizer 'Solver': solve(problem, rng) does not take (problem, rng, effort)"),
        ("bowl", Solver, {}, "many positional arguments; define solve(self, problem, rng, effort)"),
        ("bowl", {"use": Walker, "stp": 1}, {}, "optimizer 'Walker' has no parameter 'stp'; did you"),
        ("bowl", "slide", {"isolation": "none"}, 'isolation must be "trial" or "worker", got \'none\''),
        ("bowl", open, {}, "cannot be sent to a worker process"),
        ("bowl", "slide", {"jobs": True}, "jobs must be a whole number from 0 to 1,024, got True"),
        ("bowl", "slide", {"repetitions": None}, "repetitions must be given, or left out; got None"),
        ("bowl", "slide", {"target": {"gap": np.inf}}, "target gap must be a finite number, got inf"),
        ("bowl", "slide", {"store": "a\0b"}, "store must be a path, got 'a\\x00b'"),
        ("bowl", "slide", {"store": ""}, "store must be a path, got ''"),
        ("bowl", "slide", {"progress": []}, "progress must be True, False or None, got []"),
        ("bowl", "slide", {"dask": 3}, "dask must be 'local', a scheduler's address"),
        ("bowl", {"a": {"use": "slide", "label": "b"}}, {}, "methods['a'] has the label 'b' too; give one"),
        ("bowl", ["slide", "slide"], {}, "methods: 'slide' repeats 'slide'; remove one of the two"),
        ("bowl", "zzz", {}, "install it, or give plugins=[FILE]"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_one_sentence_that_names_it(problems, methods, more, words):
    if methods is open:
        file = Path("open.txt").open("w")  # noqa: SIM115 - what cannot be sent
        methods = Notebook()("def make(file):\n    return lambda problem: file.read()")["make"](file)
    with pytest.raises(benchfw.BenchfwError) as raised:
        benchfw.compare(problems, methods, plugins="bowls.py", **more)
    if "file" in locals():
        file.close()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (benchfw.problem, "problem(value, grad, start) needs value, grad, start"),
        (lambda: benchfw.problem(len, len), "problem(value, grad, start) needs two functions and a start"),
        (lambda: benchfw.problem(np.eye(2), np.ones(2), 0), "value must be a function, got ndarray; for"),
        (lambda: benchfw.problem(np.eye(2), loss="x"), "takes features and targets, got 1 values"),
        (lambda: benchfw.problem(np.eye(2), np.ones(3), loss="x"), "X must have a row for each of y"),
        (lambda: benchfw.problem(np.eye(2), 1.0, loss="x"), "X must have a row for each of y"),
        (lambda: benchfw.problem(np.ones(3), np.ones(3), loss="x"), "X must have two dimensions, got one"),
        (lambda: benchfw.problem([[1.0], [np.nan]], [1, 2], loss="x"), "X must hold finite numbers"),
        (lambda: benchfw.problem([["a"], ["b"]], [1, 2], loss="x"), "X must hold finite numbers"),
        (lambda: benchfw.problem([[1.0], [1, 2]], [1, 2], loss="x"), "X and y must be arrays"),
        (lambda: benchfw.problem(np.ones((0, 2)), [], loss="x"), "X must have rows and columns, got shape"),
        (lambda: benchfw.problem(np.eye(2), ["a", "b"], loss="x"), "y must hold finite numbers"),
        (lambda: benchfw.problem(abs, abs, None), "problem(…): start must be finite numbers, or a function"),
        (lambda: benchfw.problem(abs, abs, [np.nan]), "problem(…): start must be finite numbers"),
        (lambda: benchfw.problem(abs, abs, 1.0, value=abs), "value of problem(…) is given twice"),
        (lambda: benchfw.problem(abs, abs, 1.0, metrcs=3), "has no 'metrcs'; did you mean 'metrics'?"),
        (lambda: benchfw.problem(abs, abs, 1.0, metrics=3), "metrics must be a function, got int"),
        (lambda: benchfw.problem(abs, abs, 1.0, prox=abs), "prox is given and penalty is not"),
        (lambda: benchfw.problem(abs, abs, 1.0, grad_batch=abs), "num_samples must be a whole number from 1"),
        (lambda: benchfw.problem(abs, abs, 1.0, optimum="x"), "optimum must be an answer like the start"),
        (
            lambda: benchfw.problem(np.sum, np.ones_like, np.ones(4), optimum=np.zeros(2)),
            "like the start, which has the shape (4,), and has the shape (2,); give the point",
        ),
        (
            lambda: benchfw.problem(np.sum, np.ones_like, np.ones(4), optimum=0.0),
            "and has the shape (); give the point, not its value",
        ),
        (lambda: benchfw.problem(abs, abs, 1.0, costs={"h": 1}), "costs names 'h', which it does not have"),
        (lambda: benchfw.problem(abs, abs, 1.0, higher_is_better="a"), "higher_is_better must be names of"),
        (lambda: benchfw.problem([[1.0]], [1], loss=""), "loss must be the name of a registered problem"),
        (lambda: benchfw.from_callback(3), "from_callback needs a function of"),
        (lambda: benchfw.from_callback(solves=3), "solves must be a protocol such as benchfw.Smooth, got 3"),
        (lambda: benchfw.from_callback(solves=int), "solves must be a protocol such as benchfw.Smooth"),
        (lambda: benchfw.from_callback(projects=3), "projects must be True or False, got 3"),
        (lambda: benchfw.from_callback(int), "the parameters of int cannot be read"),
        (lambda: benchfw.Range(least="x"), "least of Range must be a number, got 'x'"),
        (lambda: benchfw.Range(least=2, most=1), "Range has no number in it: from 2 to 1"),
        (lambda: benchfw.Range(multiple_of=0), "multiple_of of Range must be a whole number from 1, got 0"),
        (lambda: benchfw.problem(np.eye(2), np.ones(2), loss=3), "loss must be the name of a registered"),
    ],
)  # fmt: skip
def test_a_problem_that_cannot_be_made_is_one_sentence(call, words):
    with pytest.raises(benchfw.BenchfwError) as raised:
        call()
    assert words in str(raised.value)
