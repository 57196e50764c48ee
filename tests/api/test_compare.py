"""benchfw.compare: objects of a session as problems and methods, by the same engine as a suite's."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
from fixtures.cells import IN_WORKERS, SMALL, Notebook, ends

import benchfw
from benchfw.adapters import OracleProblem, Oracles, method_class
from benchfw.backends import get_backend
from benchfw.store import Store

pytestmark = pytest.mark.usefixtures("folder")


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
    with pytest.raises(benchfw.BenchfwError, match="needs a FiniteSum problem, but problem 'Bowl' has no"):
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
    assert open_cost.plot("gap").get_xlabel().startswith("time, ")
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
        assert "The method sure needs " in str(better.verdicts), better.verdicts
        assert "fewer gradients than shaky" in str(better.verdicts)
        worse = benchfw.compare(problem, {"sure": sure, "shaky": shaky}, **settings)
        assert "The method shaky needs" not in str(worse.verdicts)
        assert " higher than sure" not in str(worse.verdicts)
        frame = better.frame
        assert set(frame["role"]) == {"gain"}
        assert set(frame[frame["iteration"] == 0]["value"]) == {-0.5}
        assert frame["value"].max() <= 1
        drawn = better.plot("score").get_lines()[1].get_ydata()
        assert drawn[0] == pytest.approx(-0.5)
        assert drawn[-1] > 0.5
    reached = benchfw.compare(scored, wander, **{**settings, "repetitions": 1}, target={"score": 0.9})
    assert reached.counts == {"reached": 1}


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


def test_an_estimator_of_ones_own_is_nested_as_an_object_a_class_or_a_dict(notebook):
    pytest.importorskip("benchfw_firstorder")
    notebook("""
    @dataclass(frozen=True)
    class Mirrored:
        size: int = 4
        solves = benchfw.FiniteSum
        estimates = "grad"

        def draw(self, problem, rng):
            half = rng.integers(problem.num_samples, size=self.size)
            batch = np.concatenate([half, problem.num_samples - 1 - half])
            return lambda params: problem.grad_batch(params, batch)
    """)
    own, problem = notebook["Mirrored"], {"use": "least-squares", "samples": 20, "features": 3}

    def values(estimator):
        method = {"use": "sgd", "step": 0.1, "estimator": estimator}
        result = benchfw.compare(problem, {"sgd": method}, **SMALL)
        assert result.counts == {"done": len(result.frame["method"].unique())}
        return list(result.frame["value"])

    assert values({"use": own, "size": 4}) == values(own(4))
    assert values({"use": own}) == values(own)
    sweep = {"use": "sgd", "step": 0.1, "estimator": {"use": own, "size": [2, 4]}}
    assert benchfw.compare(problem, {"sgd": sweep}, **SMALL).counts == {"done": 2}
    listed = {"use": "sgd", "step": 0.1, "estimator": [own(2), {"use": "minibatch", "size": 4}]}
    assert benchfw.compare(problem, {"sgd": listed}, **SMALL).counts == {"done": 2}
    with pytest.raises(benchfw.BenchfwError, match=r"estimator takes estimators, .* another kind: optimizer"):
        values(notebook["steps"])


def test_a_step_that_needs_the_smoothness_of_functions_says_so_in_the_words_of_the_caller(notebook):
    pytest.importorskip("benchfw_firstorder")
    bowl = notebook["bowl"]
    given = benchfw.problem(bowl.value, bowl.grad, np.zeros(3))
    said = repr(benchfw.compare(given, "gd", **SMALL))
    assert "needs the smoothness of the problem, which is not known" in " ".join(said.split())
    assert "OracleProblem" not in said


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


def test_a_start_and_an_optimum_may_be_lists_of_numbers():
    given = {"value": lambda x: float(x @ x) / 2, "start": [1, 2, 3], "optimum": [0, 0, 0]}
    problem = OracleProblem(Oracles(given), get_backend("numpy"))
    np.testing.assert_array_equal(problem.start(), [1.0, 2.0, 3.0])
    assert problem.metrics(problem.start()) == {"gap": 7.0, "objective": 7.0}
    np.testing.assert_array_equal(problem.optimum, np.zeros(3))  # a method may look at it
    assert problem.optimum.dtype == problem.start().dtype == np.float64


@pytest.mark.parametrize("start", [[[1.0, 2], [3, 4]], [np.int64(1), 2], (1, np.float32(2))])
def test_a_start_of_lists_becomes_an_array(start):
    problem = OracleProblem(Oracles({"value": np.sum, "start": start}), get_backend("numpy"))
    assert problem.start().dtype == np.float64
    np.testing.assert_array_equal(problem.start(), start)


@pytest.mark.parametrize("start", [[np.ones(2), np.ones(2)], [[1.0], [1.0, 2.0]], {"w": [1.0]}, np.arange(3)])
def test_a_start_that_is_not_numbers_in_lists_stays_as_it_is(start):
    problem = OracleProblem(Oracles({"value": np.sum, "start": start}), get_backend("numpy"))
    assert type(problem.start()) is type(start)
    assert repr(problem.start()) == repr(start)


def test_a_value_that_is_not_a_number_is_named():
    given = Oracles({"value": lambda x: x * x, "start": np.ones(4)})
    problem = OracleProblem(given, get_backend("numpy"))
    with pytest.raises(benchfw.BenchfwError, match=r"value must return one number, .* of the shape \(4,\)"):
        problem.metrics(problem.start())


def test_an_effort_may_be_given_by_name_alone():
    def fit(problem, rng, *, effort, scale=1.0):
        return scale * effort * np.ones(2)

    made = method_class(fit)(scale=3.0)
    assert made.solve(None, None, 2).tolist() == [6.0, 6.0]


def test_a_problem_may_fill_an_array_when_it_is_first_used():
    notebook = Notebook()("""
    import benchfw
    import numpy as np
    SCALES, READY = np.zeros(3), []
    def scales():
        if not READY:
            READY.append(True)
            SCALES[:] = 1 + np.arange(3)
        return SCALES
    bowl = benchfw.problem(
        lambda x: x @ (scales() * x) / 2, lambda x: scales() * x, np.ones(3), optimum=np.zeros(3)
    )
    def gd(problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.1 * problem.grad(x)
    """)
    options = {"budget": {"iterations": 3}, "repetitions": 2, "replay": False}
    for jobs in (0, 1):
        result = benchfw.compare(notebook["bowl"], notebook["gd"], jobs=jobs, **options)
        assert result.counts == {"done": 2}
    assert notebook["SCALES"].tolist() == [1, 2, 3]  # jobs=0 runs here, and leaves what it filled


def test_a_method_that_writes_into_an_array_of_the_session_is_found_out():
    notebook = Notebook()("""
    import benchfw
    import numpy as np
    A = np.eye(3)
    named = benchfw.problem(lambda x: x @ A @ x, lambda x: 2 * A @ x, np.ones(3), optimum=np.zeros(3))
    def make(B):
        return benchfw.problem(lambda x: x @ B @ x, lambda x: 2 * B @ x, np.ones(3), optimum=np.zeros(3))
    closed = make(A)
    def honest(problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.1 * problem.grad(x)
    def writes(problem, rng):
        for x in honest(problem, rng):
            yield x
            A.__imul__(0.5)
    """)
    problems = {name: notebook[name] for name in ("named", "closed")}
    methods = {name: notebook[name] for name in ("honest", "writes")}
    options = {"budget": {"iterations": 3}, "repetitions": 1, "target": {"gap": 1}, "replay": False}
    result = benchfw.compare(problems, methods, **options)
    endings = result.frame.groupby(["problem", "method"])["ending"].first()
    assert endings.xs("writes", level="method").to_list() == ["untrue", "untrue"]
    assert "untrue" not in endings.xs("honest", level="method").to_list()


def test_a_function_that_returns_its_answer_is_called_by_its_name():
    lone = Notebook()("""
    import benchfw
    problem = benchfw.problem(lambda x: x @ x, lambda x: 2 * x, [1.0, 1.0])
    def fit(problem, rng):
        return problem.start()
    """)
    options = {"budget": {"iterations": 3}, "repetitions": 1, "replay": False}
    result = benchfw.compare(lone["problem"], lone["fit"], **options)
    said = "fit() returned ndarray, not a generator; use yield, or take `effort` as a parameter"
    assert said in " ".join(repr(result).split())


class Heavy:
    """A problem of a session; its data may fill the memory."""

    backend = get_backend("numpy")

    def __init__(self):
        self.data, self.optimum = np.ones(3), np.zeros(3)

    def start(self):
        return self.data.copy()

    def value(self, x):
        return float(x @ x)

    def grad(self, x):
        return 2 * x


@pytest.mark.parametrize("jobs", [0, 1])
def test_a_comparison_does_not_keep_the_problems_of_a_session_alive(jobs):
    problem, method = Heavy(), {"use": "gd", "step": 0.1}
    result = benchfw.compare(problem, method, jobs=jobs, budget={"iterations": 3}, repetitions=1)
    assert result.counts == {"done": 1}
    there = weakref.ref(problem)
    del problem, result
    gc.collect()
    assert there() is None
