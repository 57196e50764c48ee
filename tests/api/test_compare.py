"""benchfw.compare: objects of a session as problems and methods, by the same engine as a suite's."""

import contextlib
import enum
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from fixtures.cells import Notebook

import benchfw
from benchfw.adapters import OracleProblem
from benchfw.api import session
from benchfw.harness.events import Finished
from benchfw.store import Store

PLUGIN = Path(__file__).parents[1] / "plugins" / "bowls.py"

CELL = """
import os
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

import benchfw


class Bowl:
    '''Half the squared distance to a point.'''

    def __init__(self, centre):
        self.centre = centre

    def start(self):
        return np.zeros_like(self.centre)

    def value(self, x):
        return ((x - self.centre) ** 2).sum() / 2

    def grad(self, x):
        return x - self.centre

    @property
    def optimum(self):
        return self.centre


class Drawn(benchfw.CountedProblem):
    '''The same for a random point.'''

    def __init__(self, backend, rng, size: int = 3):
        self.backend, self.optimum = backend, rng.standard_normal(size)

    def start(self):
        return 0 * self.optimum

    def value(self, x):
        return float(((x - self.optimum) ** 2).sum()) / 2

    def grad(self, x):
        self._count(1)
        return x - self.optimum

    def project(self, x):
        return x

    def metrics(self, x):
        return {"gap": self.value(x)}


def steps(problem, rng, step=0.5):
    x = problem.start()
    while True:
        yield x
        x = x - step * problem.grad(x)


@dataclass(frozen=True)
class Slide:
    step: float = 0.5

    def run(self, problem, rng):
        return steps(problem, rng, self.step)


class Fit:
    '''Cannot yield, and is no dataclass.'''

    def __init__(self, step):
        self.step = step

    def solve(self, problem, rng, effort):
        x = problem.start()
        for _ in range(effort):
            x = x - self.step * problem.grad(x)
        return x


def scipy(problem, rng, callback):
    minimize(problem.value, problem.start(), jac=problem.grad, method="CG", callback=callback)


bowl = Bowl(np.ones(3))
"""
SMALL = {"repetitions": 1, "budget": {"iterations": 12}, "replay": False, "jobs": 0}
IN_WORKERS = {**SMALL, "jobs": 1}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder for all tests of this file, which is the working folder."""
    folder = tmp_path_factory.mktemp("compare")
    shutil.copy(PLUGIN, folder / "bowls.py")
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture
def notebook():
    return Notebook()(CELL)


def ends(result):
    """Return the last gap of each method, by problem and label."""
    frame = result.frame.query("metric == 'gap'")
    return frame.groupby(["problem", "method"])["value"].last().to_dict()


def test_methods_of_every_kind_are_compared(notebook):
    methods = {
        "instance": notebook["Slide"](0.25),
        "class": notebook["Slide"],
        "fit": notebook["Fit"](0.5),
        "generator": notebook["steps"],
        "lambda": lambda problem, rng: notebook["steps"](problem, rng, 0.125),
        "callback": notebook["scipy"],
        "swept": {"use": notebook["steps"], "step": [0.1, 0.2]},
        "name": "slide",
        "tuned": {"use": "slide", "step": 0.75},
        "made": benchfw.from_callback(notebook["scipy"]),
    }
    steps = notebook["steps"]  # a test's module is in no place that a worker imports from: lambda by value
    methods["lambda"] = Notebook()("def make(steps):\n    return lambda p, r: steps(p, r, 0.125)")["make"](
        steps
    )
    result = benchfw.compare(notebook["bowl"], methods, plugins="bowls.py", **IN_WORKERS)
    assert set(result.counts) <= {"done", "reached"}, repr(result)
    found = {method: value for (_, method), value in ends(result).items()}
    # k steps of length s leave (1 - s)^k of the distance, of which the gap is half the square
    start = 1.5
    shrunk = {"instance": 0.75, "class": 0.5, "generator": 0.5, "lambda": 0.875, "name": 0.5, "tuned": 0.25}
    shrunk |= {"swept (step=0.1)": 0.9, "swept (step=0.2)": 0.8, "fit": 0.5}
    for name, factor in shrunk.items():
        assert found[name] == pytest.approx(start * factor**24, rel=1e-6), name
    assert found["callback"] == found["made"] < 1e-12
    assert set(result.frame["step"].dropna()) == {0.25, 0.1, 0.2, 0.75}
    with pytest.raises(benchfw.BenchfwError, match=r"to_toml\(\) cannot write .*generator"):
        result.to_toml()
    assert "def steps(" not in result.run.text  # a cell of a test has no source that inspect finds
    assert result.trial("lambda").records[-1].value == found["lambda"]
    with pytest.raises(benchfw.BenchfwError, match="was an object of a Python session"):
        benchfw.load(result).trial("lambda", plugins=["bowls.py"])


def test_problems_of_every_kind_are_solved_and_counted(notebook):
    centre = np.ones(3)
    notebook.names["centre"] = centre
    notebook("""
    value, grad = (lambda x: ((x - centre) ** 2).sum() / 2), (lambda x: x - centre)
    functions = benchfw.problem(value, grad, np.zeros(3), optimum=centre)
    batches = benchfw.problem(value, grad, np.zeros(3), grad_batch=lambda x, batch: x - centre, num_samples=4)
    def make(backend, rng, size=2):
        return Bowl(rng.standard_normal(size))
    """)
    problems = {
        "object": notebook["bowl"],
        "class": notebook["Drawn"],
        "sized": {"use": notebook["Drawn"], "size": [2, 4]},
        "maker": {"use": notebook["make"], "size": 5},
        "nothing": Notebook()("def make(bowl):\n    return lambda: bowl")["make"](notebook["bowl"]),
        "functions": notebook["functions"],
        "name": "bowl",
    }
    result = benchfw.compare(problems, notebook["Slide"](), plugins=["bowls.py"], **IN_WORKERS)
    assert result.counts == {"done": 8}, repr(result)
    found = ends(result)
    assert found["object", "Slide"] == found["functions", "Slide"] == found["nothing", "Slide"]
    assert found["object", "Slide"] == pytest.approx(1.5 / 4**12)
    assert result.frame.groupby("problem")["cost"].max().unique() == [12.0]
    assert result.frame.groupby("problem")["problem.size"].first()["maker"] == 5
    batched = Notebook()("""
    def sgd(problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.5 * problem.grad_batch(x, rng.integers(0, problem.num_samples, 1))
    """)["sgd"]
    result = benchfw.compare(notebook["batches"], batched, **SMALL)
    assert result.frame["cost"].max() == 3.0
    known = {"use": notebook["batches"], "best": -1.0}
    assert benchfw.compare(known, batched, **SMALL, target={"gap": 1.1}).counts == {"reached": 1}
    assert set(result.frame["metric"]) == {"objective"}
    with pytest.raises(
        benchfw.BenchfwError, match="needs a FiniteSum problem, but problem 'object:Bowl' has no"
    ):
        benchfw.compare(notebook["bowl"], batched, **SMALL)


def test_an_oracle_whose_cost_is_not_known_leaves_the_cost_open(notebook):
    notebook("""
    class Curved(Bowl):
        def hess(self, x):
            return np.eye(3)

    class Priced(Curved):
        costs = {"hess": 10}

    def newton(problem, rng, charge=0):
        x = problem.start()
        while True:
            yield x
            if charge:
                problem.charge(charge)
            x = x - np.linalg.solve(problem.hess(x), problem.grad(x))
    """)
    newton, few = notebook["newton"], {**SMALL, "target": {"gap": 1e-6}}
    methods = {"steps": notebook["steps"], "newton": newton}
    open_cost = benchfw.compare(notebook["Curved"](np.ones(3)), methods, **few)
    said = " ".join(repr(open_cost).split())
    assert "caveat: newton on Curved: it calls hess, whose cost is not known, and so its own is not" in said
    assert set(zip(open_cost.frame["method"], open_cost.frame["counting"], strict=True)) == {
        ("steps", "counted"),
        ("newton", "unknown"),
    }
    known = open_cost.summary[open_cost.summary["quantity"] == "cost_to_target"]
    assert list(known["method"]) == ["steps"]
    drawn = {x: len(open_cost.plot("gap", x=x).get_lines()) for x in ("cost", "seconds")}
    assert drawn == {"cost": 1, "seconds": 2}
    assert open_cost.plot("gap").get_xlabel() == "seconds"
    priced = benchfw.compare(notebook["Priced"](np.ones(3)), methods, **few)
    costs = priced.summary[priced.summary["quantity"] == "cost_to_target"].set_index("method")["estimate"]
    assert costs["newton"] == pytest.approx(11)
    charged = benchfw.compare(notebook["Curved"](np.ones(3)), {"use": newton, "charge": 4}, **few)
    assert set(charged.frame["counting"]) == {"declared"}
    assert "whose cost" not in repr(charged)
    notebook("Curved.costs = {'hess': -1}")
    with pytest.raises(benchfw.BenchfwError, match="problems: costs of Curved: hess costs -1; a cost is a"):
        benchfw.compare(notebook["Curved"](np.ones(3)), newton)


def test_a_metric_of_which_higher_is_better_turns_the_verdict_around(notebook):
    notebook("""
    class Scored(Bowl):
        higher_is_better = ("score",)

        def metrics(self, x):
            return {"score": 1 - self.value(x)}

    def wander(problem, rng, step=0.5, noise=0.0):
        for x in steps(problem, rng, step):
            yield x + noise * rng.standard_normal(3) * (x[0] != 0)
    """)
    scored, wander = notebook["Scored"](np.ones(3)), notebook["wander"]
    functions = benchfw.problem(
        scored.value, scored.grad, np.zeros(3), metrics=scored.metrics, higher_is_better=["score"]
    )
    settings = {**SMALL, "repetitions": 6, "store": "gains.sqlite"}
    sure, shaky = wander, {"use": wander, "noise": 1.0}
    for problem in (scored, functions):
        better = benchfw.compare(problem, {"shaky": shaky, "sure": sure}, **settings)
        assert "sure reaches score " in str(better.verdicts), better.verdicts
        assert "fewer gradients than shaky" in str(better.verdicts)
        worse = benchfw.compare(problem, {"sure": sure, "shaky": shaky}, **settings)
        assert "shaky reaches" not in str(worse.verdicts)
        assert "shaky has score" not in str(worse.verdicts)
        frame = better.frame
        assert set(frame["role"]) == {"gain"}
        assert set(frame[frame["iteration"] == 0]["value"]) == {-0.5}
        assert frame["value"].max() <= 1
        drawn = better.plot("score").get_lines()[1].get_ydata()
        assert drawn[0] == pytest.approx(-0.5)
        assert drawn[-1] > 0.5
    reached = benchfw.compare(scored, wander, **{**settings, "repetitions": 1}, target={"score": 0.9})
    assert reached.counts == {"reached": 1}


def test_the_same_cell_runs_nothing_again_and_an_edited_one_what_it_changed(notebook):
    def call():
        methods = {"slide": notebook["Slide"](0.5), "steps": notebook["steps"]}
        return benchfw.compare(notebook["bowl"], methods, **SMALL, store="edited.sqlite")

    first = call()
    again = call()
    assert (again.reused, "nothing was run" in repr(again)) == (2, True)
    notebook(CELL)  # run again as it is
    notebook.names["bowl"].grad(np.zeros(3))  # asking a problem changes nothing
    assert call().reused == 2
    notebook("""
    @dataclass(frozen=True)
    class Slide:
        step: float = 0.5

        def run(self, problem, rng):
            return steps(problem, rng, self.step / 2)
    """)
    edited = call()
    assert edited.reused == 1
    assert ends(edited)["Bowl", "slide"] == pytest.approx(1.5 * 0.75**24)
    assert ends(edited)["Bowl", "steps"] == ends(first)["Bowl", "steps"]
    notebook("bowl = Bowl(2 * np.ones(3))")
    moved = call()
    assert moved.reused == 0
    assert ends(moved)["Bowl", "steps"] == pytest.approx(6 / 4**12)


def test_a_trial_of_what_was_edited_since_says_so(notebook, folder):
    notebook("pace = 0.5\ndef paced(problem, rng):\n    return steps(problem, rng, pace)")
    result = benchfw.compare(notebook["bowl"], notebook["paced"], **SMALL, store="paced.sqlite")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result.trial("paced").records[-1].value == ends(result)["Bowl", "paced"]
    notebook("pace = 0.25")
    with pytest.warns(
        UserWarning, match=r"^paced has changed since run 1: this is not the trial that was run$"
    ):
        assert result.trial("paced").records[-1].value != ends(result)["Bowl", "paced"]
    notebook("""
    def reads(problem, rng):
        with open("pace.txt") as file:
            return steps(problem, rng, float(file.read()))
    """)
    (folder / "pace.txt").write_text("0.5")
    result = benchfw.compare(notebook["bowl"], notebook["reads"], **SMALL, store="paced.sqlite")
    (folder / "pace.txt").write_text("0.25")
    with pytest.warns(
        UserWarning, match=r"^not as in run 2: .* at iteration 1 was .*, and then .* has changed"
    ):
        result.trial("reads")


def test_the_command_line_says_that_an_object_is_not_there(notebook, run_inline, folder):
    result = benchfw.compare(notebook["bowl"], notebook["steps"], **SMALL, store="alone.sqlite")
    result.save("alone.zip")
    said = "was an object of a Python session, which is not kept; run the code that made it again"
    for words in (["replay", "1", "--store", "alone.sqlite"], ["run", "--from-bundle", "alone.zip"]):
        done = run_inline(words, folder, dict(os.environ), together=True)
        assert (done.returncode, said in done.stdout) == (2, True), done.stdout
    packed = run_inline(["export", "--bundle", "a.zip", "--store", "alone.sqlite"], folder, dict(os.environ))
    assert "the suite has the source of its session's objects as a comment" in packed.stdout


def test_a_file_that_a_cell_reads_is_noticed(notebook, folder):
    (folder / "step.txt").write_text("0.5")
    notebook("""
    def read(problem, rng):
        return steps(problem, rng, float(open("step.txt").read()))
    """)
    assert benchfw.compare(notebook["bowl"], notebook["read"], **IN_WORKERS).reused == 0
    assert benchfw.compare(notebook["bowl"], notebook["read"], **IN_WORKERS).reused == 1
    (folder / "step.txt").write_text("0.25")
    changed = benchfw.compare(notebook["bowl"], notebook["read"], **IN_WORKERS)
    assert changed.reused == 0
    assert ends(changed)["Bowl", "read"] == pytest.approx(1.5 * 0.75**24)


def test_compare_a_dict_and_a_file_give_the_same_trials(folder):
    keywords = {"repetitions": 2, "target": {"gap": 1e-3}, "budget": {"iterations": 40}, "seed": 3}
    store = folder / "same.sqlite"
    by_call = benchfw.compare(
        {"use": "bowl", "size": [2, 3]},
        {"a": {"use": "slide", "step": np.array([0.1, 0.3])}, "b": "slide"},
        plugins=["bowls.py"], store=store, **keywords,
    )  # fmt: skip
    tables = {
        "problem": [{"use": "bowl", "size": [2, 3]}],
        "optimizer": [{"use": "slide", "step": [0.1, 0.3], "label": "a"}, {"use": "slide", "label": "b"}],
    }
    by_dict = benchfw.run({**keywords, **tables}, plugins=["bowls.py"], store=store)
    Path("same.toml").write_text(by_call.to_toml(), encoding="utf-8")
    by_file = benchfw.run("same.toml", store=store)
    assert (by_dict.reused, by_file.reused) == (12, 12)
    fresh = benchfw.run("same.toml", store=store, fresh=True, replay=False)
    with Store(store) as opened:
        results = [opened.results(each.id) for each in (by_call, by_dict, by_file, fresh)]
    keys = [[each.trial.key for each in found] for found in results]
    assert keys[0] == keys[1] == keys[2] == keys[3]
    records = [
        [(r.metric, r.iteration, r.cost, r.value) for each in found for r in each.outcome.records]
        for found in results
    ]
    assert records[0] == records[3]


def test_an_instance_of_a_registered_class_is_its_name_with_parameters():
    pytest.importorskip("benchfw_firstorder")
    from benchfw_firstorder import SGD, GradientDescent, Minibatch

    methods = [GradientDescent(step=0.1), SGD(step=0.1, estimator=Minibatch(size=4))]
    result = benchfw.compare({"use": "least-squares", "samples": 20, "features": 3}, methods, **SMALL)
    written = result.to_toml()
    assert 'use = "gd"\nstep = 0.1' in written
    assert 'estimator = { use = "minibatch", size = 4 }' in written
    assert set(result.frame["estimator.size"].dropna()) == {4}


def test_an_object_that_its_fields_do_not_make_is_copied_as_it_is(notebook):
    notebook("""
    @dataclass
    class Halved:
        step: float

        def __post_init__(self):
            self.step /= 2

        def run(self, problem, rng):
            return steps(problem, rng, self.step)

    @dataclass
    class Open:
        step: float = 0.5
        more: float = 0.0

        def run(self, problem, rng):
            return steps(problem, rng, self.step + getattr(self, "added", 0.0))

    grown = Open()
    grown.added = 0.25

    @dataclass(frozen=True)
    class Law:
        mean: float = 2.0

        def survival(self, degree, decay):
            return 1.0

        def sample(self, rng, decay, size=None):
            return self.mean

    @dataclass(frozen=True)
    class Nested:
        distribution: Law

        def run(self, problem, rng):
            return steps(problem, rng, 1 / self.distribution.sample(rng, 1.0))
    """)
    notebook("""
    import enum
    import functools
    from typing import NamedTuple

    class Pace(enum.StrEnum):
        FAST = "fast"
        SLOW = "slow"

    class Setting(NamedTuple):
        step: float = 0.5

    @dataclass(frozen=True)
    class Strict:
        pace: Pace = Pace.SLOW
        setting: Setting = Setting()
        label: str = "slow"

        def run(self, problem, rng):
            return steps(problem, rng, self.setting.step if self.pace is Pace.FAST else 0.9)

    @dataclass(frozen=True)
    class Named:
        label: str = "slow"
        best: float = 0.5

        def run(self, problem, rng):
            return steps(problem, rng, self.best if self.label == "fast" else 0.9)

    def fixed(function):
        @functools.wraps(function)
        def with_step(problem, rng):
            return function(problem, rng, 0.25)
        return with_step

    def passing(function):
        @functools.wraps(function)
        def call(*args, **keywords):
            return function(*args, **keywords)
        return call

    fixed_steps, passing_steps = fixed(steps), passing(steps)
    """)
    methods = {"halved": notebook["Halved"](1.0), "grown": notebook["grown"]}
    methods["strict"] = notebook["Strict"](notebook["Pace"].FAST, notebook["Setting"](0.25))
    methods["named"] = notebook["Named"]("fast", 0.25)
    methods["fixed"] = notebook["fixed_steps"]
    methods["passing"] = {"use": notebook["passing_steps"], "step": 0.25}
    methods["nested"] = notebook["Nested"](notebook["Law"](4.0))
    result = benchfw.compare(notebook["bowl"], methods, **SMALL)
    found = {method: value for (_, method), value in ends(result).items()}
    assert found["halved"] == pytest.approx(1.5 * 0.5**24)
    assert found["grown"] == pytest.approx(1.5 * 0.25**24)
    assert found["nested"] == pytest.approx(1.5 * 0.75**24)
    for name in ("strict", "named", "fixed", "passing"):
        assert found[name] == pytest.approx(1.5 * 0.75**24), name
    assert set(result.frame["distribution.mean"].dropna()) == {4.0}
    with pytest.raises(benchfw.BenchfwError, match="methods is a distribution; give a method that takes it"):
        benchfw.compare(notebook["bowl"], notebook["Law"](), **SMALL)


def test_an_object_of_oracles_gives_copies_of_its_start_and_takes_keywords():
    class Pair:
        num_samples = 4
        start = ({"w": np.ones(2)}, np.ones(2))

        def grad(self, x, scale=1.0):
            return scale

        def grad_batch(self, x, indices):
            return len(indices)

    problem = OracleProblem(Pair(), None)
    first, second = problem.start()
    first["w"] -= 1
    second -= 1
    assert problem.start()[0]["w"].tolist() == problem.start()[1].tolist() == [1, 1]
    assert problem.grad(0, scale=2.0) == 2.0
    assert problem.grad_batch(0, indices=[1, 2]) == 2
    assert problem.cost == 1.5


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
        ("bowl", {"use": "slide", "step": None}, {}, "methods: 'step' is None, which a suite cannot hold"),
        ("bowl", [lambda p: p, lambda p: 2], {}, "methods[1]: another optimizer is called 'function' too"),
        ("bowl", "slide", {"repetitions": 0}, "repetitions must be at least 1, got 0"),
        ("bowl", "slide", {"budget": 3}, "'budget' must be a table, got 3"),
        ("bowl", "slide", {"target": {"gap": "low"}}, "target gap must be a finite number, got 'low'"),
        ("bowl", "slide", {"backends": 3}, "backends must be a name or a list of names, got 3"),
        ("bowl", "slide", {"backends": "nampy"}, "unknown backend 'nampy'; did you mean 'numpy'?"),
        ("bowl", "slide", {"target": {"gap": -1}}, "target gap cannot be below 0, got -1"),
        ("bowl", "slide", {"jobs": None}, "jobs must be a whole number from 0 to 1,024, got None"),
        ("bowl", "slide", {"fresh": "yes"}, "fresh must be True or False, got 'yes'"),
        ("bowl", "slide", {"keep": __file__}, "keep must name a folder, and"),
        ("bowl", "slide", {"progress": "no"}, "progress must be True, False or None, got 'no'"),
        ("bowl", "slide", {"store": "."}, "cannot be used as a store; use another `store`"),
        ("bowl", {"use": "slide", "step": Mode.FAST}, {}, "methods: 'step' is Mode, which a suite cannot"),
        ("bowl", "slide", {"threads": 0}, "threads must be a whole number from 1"),
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
        ("bowl", ["slide", "slide"], {}, "methods: 'slide' is 'slide' again; remove one of the two"),
        ("bowl", "zzz", {}, "install it, or give plugins=[FILE]"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_one_sentence_that_names_it(problems, methods, more, words):
    if methods is open:
        file = Path("open.txt").open("w")  # noqa: SIM115
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


def test_a_session_that_cannot_be_seen_whole_is_run_every_time(notebook):
    notebook("""
    import types
    made_up = types.ModuleType("made_up")
    made_up.step = 0.5

    def uses(problem, rng):
        return steps(problem, rng, made_up.step)
    """)
    for _ in range(2):
        result = benchfw.compare(notebook["bowl"], {"a": notebook["uses"], "b": notebook["steps"]}, **SMALL)
        assert ends(result)["Bowl", "a"] == pytest.approx(1.5 / 4**12)
    assert result.reused == 1


def test_code_of_a_module_counts_as_it_is_in_its_file(notebook, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    helper = "def factor():\n    return {}\n"
    (folder / "own_helper.py").write_text(helper.format(0.5))
    notebook("""
    import own_helper

    def helped(problem, rng):
        return steps(problem, rng, own_helper.factor())
    """)
    assert ends(benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS))["Bowl", "helped"] < 1e-6
    (folder / "own_helper.py").write_text(helper.format(0.25))
    edited = benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS)
    assert ends(edited)["Bowl", "helped"] == pytest.approx(1.5 * 0.75**24)
    assert benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS).reused == 1


def test_estimators_are_compared_too_and_in_this_process_if_asked(notebook):
    notebook("""
    @dataclass(frozen=True)
    class Noisy:
        scale: float = 1.0
        estimates = "grad"
        claims = benchfw.Claims(unbiased=True)

        def draw(self, problem, rng):
            noise = self.scale * rng.standard_normal(3)
            return lambda x: problem.grad(x) + noise
    """)
    call = {**SMALL, "budget": {"iterations": 400}, "repetitions": 3, "jobs": 0}
    result = benchfw.compare(notebook["Drawn"], {"use": notebook["Noisy"], "scale": [1.0, 2.0]}, **call)
    variance = result.summary.query("quantity == 'variance'").set_index("scale")["estimate"]
    # the sum over three coordinates, each known to 2 / sqrt(2 * 1200 * 3) of itself
    assert variance[1.0] == pytest.approx(3, rel=4 * (2 / 7200) ** 0.5)
    assert variance[2.0] == pytest.approx(12, rel=4 * (2 / 7200) ** 0.5)


CLAIM = {
    "says": "fast is fast",
    "method": "fast",
    "than": "slow",
    "quantity": "cost to target",
    "ratio": {"below": 0.5},
}


def compare_paces(tmp_path, **options):
    plugin = Path(__file__).parents[1] / "plugins" / "paces.py"
    methods = {"slow": {"use": "shrink"}, "fast": {"use": "shrink", "pace": 0.3}}
    usual = {"target": {"gap": 1e-3}, "store": tmp_path / "s.sqlite", "plugins": [str(plugin)], "jobs": 0}
    return benchfw.compare("slope", methods, **usual | {"replay": False} | options)


def test_compare_decides_claims_and_its_suite_file_has_them(tmp_path):
    result = compare_paces(tmp_path, claims=[CLAIM, {"says": "taste", "untestable": "no number"}])
    found = result.claims
    assert list(found.standing) == ["holds", "not testable"]
    assert found.low[0] < found.estimate[0] < found.high[0] < 0.5
    assert "fast is fast" in repr(result).splitlines()[1]
    (tmp_path / "c.toml").write_text(result.to_toml())
    again = benchfw.run(tmp_path / "c.toml", store=tmp_path / "s.sqlite", jobs=0, replay=False)
    assert again.reused == 10
    assert list(again.claims.hash) == list(found.hash)
    assert list(again.claims.registered) == list(found.registered)
    assert len(compare_paces(tmp_path).claims) == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"claims": CLAIM}, "claims must be a list of dicts, got dict"),
        ({"claims": [CLAIM, "fast"]}, "claims[1] must be a dict with 'says', got 'fast'"),
        (
            {"claims": [CLAIM | {"than": "slwo"}]},
            "claims[0]: no method is labelled 'slwo'; did you mean 'slow'?",
        ),
        (
            {"claims": [CLAIM], "target": None},
            "claims[0]: it is about a target, and there is none; give target = { … }",
        ),
        (
            {"claims": [CLAIM, CLAIM | {"says": "b", "ratio": {"below": -1}}]},
            "claims[1]: a ratio is never below -1; it is positive",
        ),
        (
            {"claims": [CLAIM | {"quantity": "gpa at the end"}]},
            "claims[0]: 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?",
        ),
        ({"target": {"gpa": 1}}, "target 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?"),
    ],
)
def test_a_mistake_in_claims_names_the_argument(tmp_path, options, said):
    with pytest.raises(benchfw.BenchfwError) as fault:
        compare_paces(tmp_path, **options)
    assert str(fault.value) == said
