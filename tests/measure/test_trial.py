"""A trial is built and measured from what a suite says; whatever happens is a status with a reason."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.errors import BenchfwError
from benchfw.harness.events import Finished
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.measure.trial import REHEARSAL, collector, rehearsal_registry, run_trial, warm_up
from benchfw.records import Budget, Counting, Ending, Record, Spec, Status
from benchfw.registry import Registry


@pytest.fixture
def ran(registry):
    """Return a function that runs a trial of the toys; it gives the outcome and the records by metric."""

    def run(trial):
        records, emit = collector()
        outcome = run_trial(trial, registry, emit)
        names = dict.fromkeys(each.metric for each in records)
        return outcome, {name: [r for r in records if r.metric == name] for name in names}

    return run


@pytest.fixture
def draws(make_trial):
    """Return a function that makes an estimator's trial."""

    def make(scale=2.0, **changes):
        given = {"kind": "estimator", "method": Spec("noisy", {"scale": scale}), "budget": Budget(cost=4000)}
        return make_trial(**{**given, **changes})

    return make


def test_the_same_trial_gives_the_same_records(ran, make_trial):
    trial = make_trial(method=Spec("slide", {"estimator": {"use": "noisy"}}))
    one, other = (
        [(r.iteration, r.cost, r.value) for r in ran(replace(trial, key=key))[1]["gap"]] for key in "ab"
    )
    assert one == other
    assert one != [(r.iteration, r.cost, r.value) for r in ran(replace(trial, repetition=1))[1]["gap"]]


def test_methods_are_compared_on_the_same_data(ran, make_trial):
    starts = {
        ran(make_trial(method=Spec("slide", {"step": step})))[1]["gap"][0].value for step in (0.1, 0.2, 0.3)
    }
    assert len(starts) == 1


def test_a_descent_on_a_bowl_is_what_it_should_be(ran, make_trial):
    outcome, records = ran(make_trial())
    gaps = [each.value for each in records["gap"]]
    assert (outcome.status, outcome.reason) == (Status.DONE, "budget of 10 iterations")
    np.testing.assert_allclose(gaps, gaps[0] * 0.25 ** np.arange(11), rtol=1e-12)
    assert [each.cost for each in records["gap"]] == list(range(11))


def test_bias_variance_and_their_error_are_those_of_the_noise(ran, draws):
    outcome, records = ran(draws())
    last = {name: each[-1].value for name, each in records.items()}
    assert (outcome.status, outcome.reason) == (Status.DONE, "budget of 4,000 slopes")
    variance = 2 * 2.0**2  # two coordinates
    assert abs(last["variance"] - variance) < 4 * last["variance_std_error"]
    # the variance of one squared length is 2 * scale**4 a coordinate
    assert last["variance_std_error"] == pytest.approx(math.sqrt(2 * 2 * 2.0**4 / 4000), rel=0.2)
    assert abs(last["bias"]) < 4 * math.sqrt(variance / 4000)
    assert last["mse"] == pytest.approx(variance, rel=0.2)


def test_the_claim_to_be_unbiased_is_part_of_the_outcome(ran, draws):
    outcome, _ = ran(draws(budget=Budget(iterations=50)))
    assert outcome.claims_unbiased


def test_a_draw_is_charged_and_the_exact_answer_is_not(ran, draws):
    _, records = ran(draws(budget=Budget(iterations=50)))
    assert [each.cost for each in records["variance"]] == [each.iteration for each in records["variance"]]
    assert records["variance"][-1].iteration == 50


def test_draws_end_when_the_variance_is_known_well_enough(ran, draws):
    outcome, records = ran(draws(precision=0.2, budget=Budget(iterations=100_000)))
    last = {name: each[-1] for name, each in records.items()}
    assert outcome.status is Status.DONE
    assert outcome.ending is Ending.PRECISION
    assert outcome.reason.startswith("variance known to 20% after")
    assert 100 <= last["variance"].iteration < 1000
    half_width = 1.96 * last["variance_std_error"].value / last["variance"].value
    assert half_width <= 0.2


def test_an_estimator_without_noise_ends_early_too(ran, draws):
    outcome, records = ran(draws(scale=0.0, precision=0.05, budget=Budget(iterations=100_000)))
    assert outcome.reason.startswith("variance known to 5%")
    assert records["variance"][-1].value == 0.0


def test_a_variance_beyond_double_precision_is_not_one_that_never_varied(ran, draws):
    outcome, _ = ran(draws(scale=1e100))
    assert (outcome.status, outcome.ending) == (Status.DIVERGED, Ending.NOT_FINITE)
    assert "beyond double precision" in outcome.reason


def test_an_estimator_that_cannot_draw_twice_does_not_end_as_done_without_a_number(ran, draws):
    outcome, records = ran(draws(budget=Budget(cost=1)))
    assert "variance" in records or outcome.status is not Status.DONE


ODD = """from dataclasses import dataclass
import numpy as np
from benchfw import BenchfwError, Claims, Smooth, hookimpl
from toys import Bowl


@dataclass(frozen=True)
class Odd:
    late: int = 5
    value: float = float("nan")
    solves, estimates, claims = Smooth, "grad", Claims(unbiased=True)
    def draw(self, problem, rng):
        counted.append(1)
        return lambda params: params if len(counted) < self.late else params + self.value

@dataclass(frozen=True)
class There:
    solves, estimates, claims = Smooth, "grad", Claims(unbiased=True)
    def draw(self, problem, rng):
        return lambda params: places.append(params) or params

class Flat(Bowl):
    def __init__(self, backend, rng):
        super().__init__(backend, rng)
        self.optimum = None
    def start(self):
        return np.zeros(2)
    def grad(self, params):
        return params

@dataclass(frozen=True)
class Third:
    solves = Smooth
    fault: str = "ValueError"
    def run(self, problem, rng):
        yield problem.start()
        yield problem.start()
        raise {"ValueError": ValueError("two\\nlines"), "MemoryError": MemoryError(),
               "mine": BenchfwError("give more"), "mute": KeyError()}[self.fault]

counted, places = [], []

@hookimpl
def register_problems(register):
    register("flat", Flat)

@hookimpl
def register_estimators(register):
    register("odd", Odd)
    register("there", There)

@hookimpl
def register_optimizers(register):
    register("third", Third)
"""


@pytest.fixture
def registry(toys, plugin_file):
    return Registry([str(toys), str(plugin_file(ODD, "odd.py"))])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_draw_that_is_not_finite_is_diverged_and_the_records_before_it_are_kept(ran, draws, value):
    outcome, records = ran(draws(method=Spec("odd", {"value": value})))
    assert (outcome.status, outcome.reason) == (Status.DIVERGED, "draw 5 is not finite")
    assert [each.iteration for each in records["variance"]] == [2, 3, 4]


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"late": 1}, Status.DIVERGED),
        ({"late": 5}, Status.DIVERGED),
        ({"late": 3, "value": 1e100}, Status.DIVERGED),  # its square is out of range
        ({"late": 1000}, Status.DONE),
    ],
)
def test_an_estimator_claims_and_counts_the_same_however_it_ends(ran, draws, params, status):
    import odd

    odd.counted.clear()
    outcome, _ = ran(draws(method=Spec("odd", params), budget=Budget(iterations=20)))
    assert outcome.status is status
    assert outcome.claims_unbiased
    assert outcome.counting is Counting.UNCOUNTED


@pytest.mark.parametrize("at", ["start", "optimum"])
def test_an_estimator_draws_where_it_is_told_to(ran, draws, at):
    import odd

    ran(draws(method=Spec("there"), at=at, budget=Budget(iterations=2)))
    assert len(odd.places) == 2
    assert all(np.any(place) == (at == "optimum") for place in odd.places)


def test_a_problem_that_does_not_know_its_optimum_says_so(ran, draws):
    outcome, _ = ran(draws(problem=Spec("flat"), at="optimum"))
    assert outcome.status is Status.FAILED
    assert "problem 'flat' does not know its optimum" in outcome.reason


@pytest.mark.parametrize(
    ("fault", "status", "part"),
    [
        ("ValueError", Status.FAILED, "ValueError: two lines (odd.py, line"),
        ("MemoryError", Status.OUT_OF_MEMORY, "not enough memory"),
        ("mine", Status.FAILED, "give more"),
        ("mute", Status.FAILED, "KeyError"),
    ],
)
def test_a_method_that_raises_at_its_third_answer_keeps_two_points(ran, make_trial, fault, status, part):
    outcome, records = ran(make_trial(method=Spec("third", {"fault": fault})))
    assert outcome.status is status
    assert part in outcome.reason
    assert "\n" not in outcome.reason
    assert [each.iteration for each in records["gap"]] == [0, 1]


def test_a_fault_is_told_to_whom_asks(registry, make_trial):
    heard = []
    run_trial(make_trial(method=Spec("third")), registry, collector()[1], hear=heard.append)
    assert [str(fault) for fault in heard] == ["two\nlines"]


@pytest.mark.parametrize(
    ("change", "status", "part"),
    [
        ({"backend": "nowhere"}, Status.SKIPPED, "nowhere"),
        ({"method": Spec("slied")}, Status.FAILED, "did you mean 'slide'"),
        ({"problem": Spec("bowl", {"size": -1})}, Status.FAILED, ""),
        ({"target": {"gpa": 1.0}}, Status.FAILED, "target 'gpa' is not a metric"),
    ],
)
def test_a_trial_that_cannot_run_has_a_status_and_a_reason(ran, make_trial, change, status, part):
    outcome, _ = ran(make_trial(**change))
    assert outcome.status is status
    assert outcome.reason
    assert part in outcome.reason


def test_a_kernel_is_measured_on_arguments_of_its_size(ran, make_trial):
    method = Spec("column-dots", {"dtype": "float32"})
    trial = make_trial(kind="kernel", problem=Spec("size", {"size": 16}), method=method)
    outcome, records = ran(replace(trial, budget=Budget(iterations=2)))
    assert outcome.status is Status.DONE
    assert [each.iteration for each in records["seconds_per_call"]] == [1, 2]
    assert outcome.facts["argument_bytes"] == 2 * 16 * 4


@pytest.mark.parametrize("kind", ["optimizer", "estimator"])
def test_a_warm_up_is_short_and_swallows_faults(registry, make_trial, kind):
    method = Spec("slide" if kind == "optimizer" else "noisy")
    records, emit = collector()
    trial = make_trial(kind=kind, method=method, budget=Budget(iterations=1000), target={}, precision=0.5)
    warm_up(trial, registry, emit)
    assert records
    assert max(each.iteration for each in records) <= 2
    warm_up(replace(trial, method=Spec("nothing")), registry, emit)
    warm_up(replace(trial, backend="abacus"), registry, emit)


def test_a_warm_up_on_a_device_has_ten_iterations_since_later_ones_may_compile_kernels_too(
    registry, make_trial, monkeypatch
):
    monkeypatch.setattr("benchfw.measure.trial.is_on_device", lambda backend: backend == "numpy")
    records, emit = collector()
    warm_up(make_trial(method=Spec("slide"), budget=Budget(iterations=1000), target={}), registry, emit)
    assert max(each.iteration for each in records) == 10


def test_a_warm_up_on_a_device_ends_a_second_after_its_first_iteration_however_long_that_took(
    registry, make_trial, monkeypatch
):
    seen = []

    def run(trial, registry, emit, hear):
        assert trial.budget == Budget(iterations=10)
        for iteration, seconds in enumerate((70.0, 80.0, 80.5, 81.5, 82.5)):
            emit([Record("gap", iteration, seconds, 0.0, 1.0)])

    monkeypatch.setattr("benchfw.measure.trial.is_on_device", lambda backend: backend == "numpy")
    monkeypatch.setattr("benchfw.measure.trial.run_trial", run)
    with pytest.raises(BenchfwError, match="ended after 1 seconds"):
        warm_up(make_trial(), registry, seen.extend)
    assert [each.iteration for each in seen] == [0, 1, 2, 3]


def test_the_trial_that_a_template_rehearses_is_measured_as_others_are():
    records, emit = collector()
    outcome = run_trial(REHEARSAL, rehearsal_registry(), emit)
    assert outcome.status is Status.DONE, outcome.reason
    assert [each.iteration for each in records if each.metric == "gap"] == [0, 1]


DEVICE = """
import subprocess, sys
from dataclasses import dataclass
from benchfw import CountedProblem, hookimpl
from benchfw.backends.numpy_backend import NumpyBackend

class Card(NumpyBackend):
    name, on_device = "card", True

class Nothing(CountedProblem):
    def __init__(self, backend, rng):
        self.backend = backend
    def metrics(self, answer):
        return {"answer": answer}

@dataclass(frozen=True)
class Helped:
    processes: int = 0
    def run(self, problem, rng):
        wait = [sys.executable, "-c", "input()"]
        yield 1.0
        helpers = [subprocess.Popen(wait, stdin=subprocess.PIPE) for _ in range(self.processes)]
        yield 0.5
        for helper in helpers:
            helper.communicate()

@hookimpl
def register_backends(register):
    register("card", Card)

@hookimpl
def register_problems(register):
    register("nothing", Nothing)

@hookimpl
def register_optimizers(register):
    register("helped", Helped)
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_trial_on_a_device_says_so_and_counts_no_cpu_seconds_where_other_processes_help(
    plugin_file, make_trial, processes
):
    source = plugin_file(DEVICE, "card.py")
    method = Spec("helped", {"processes": processes})
    trial = make_trial(problem=Spec("nothing"), method=method, budget=Budget(iterations=9))
    workers = LocalExecutor((str(source),))  # this process may have started others
    trials = [replace(trial, backend=each, key=each) for each in ("numpy", "card")]
    try:
        with Registry((str(source),)).activate():
            finished = [each for each in workers.run(trials) if isinstance(each, Finished)]
    finally:
        workers.close()
    assert len(finished) == 2
    for each in finished:
        on_device, outcome = each.trial.backend == "card", each.outcome
        assert bool(outcome.device) == on_device
        unknown = on_device and processes > 0
        assert [record.cpu_seconds is None for record in outcome.records] == [False, unknown]
