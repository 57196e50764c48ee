"""A suite and the plugins give trials, or one line about what is wrong; nothing of a plugin runs."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchfw.errors import BenchfwError, SuiteError
from benchfw.measure.seeding import data_seed
from benchfw.plan import check_quick, missing_oracles, plan, produced_class, select, tuning_of
from benchfw.registry import Registry
from benchfw.suite import parse_suite

BASE = 'seed = 3\nrepetitions = 2\nbudget = { iterations = 5 }\n[[problem]]\nuse = "bowl"\n'
SLIDE = '[[optimizer]]\nuse = "slide"\n'


def planned(text, registry):
    return plan(parse_suite(text, "my.toml"), registry, "my.toml")


def test_every_method_meets_every_problem_on_every_backend_in_every_repetition(registry):
    text = 'backends = ["numpy", "cupy"]\ntarget = { gap = 1.0 }\nprecision = 0.5\n' + BASE
    trials = planned(text + 'size = [2, 3]\n[[estimator]]\nuse = "noisy"\n' + SLIDE, registry)
    coordinates = {(t.kind, t.problem.label, t.backend, t.repetition) for t in trials}
    assert len(trials) == len(coordinates) == 2 * 2 * 2 * 2
    assert {t.seed for t in trials} == {3}
    assert all(t.target == ({"gap": 1.0} if t.kind == "optimizer" else {}) for t in trials)
    assert all(t.precision == (0.5 if t.kind == "estimator" else None) for t in trials)


def test_where_an_estimator_draws_is_no_parameter_of_it(registry):
    trials = planned(BASE + '[[estimator]]\nuse = "noisy"\nat = ["start", "optimum"]\n', registry)
    assert {t.at for t in trials} == {"start", "optimum"}
    assert {t.method.label for t in trials} == {"noisy (at=start)", "noisy (at=optimum)"}
    assert all("at" not in t.method.params for t in trials)


def test_a_method_that_names_its_problems_meets_no_others(registry):
    text = BASE + "size = [2, 3, 4]\n" + SLIDE + 'on = ["bowl (size=2)", "bowl (size=4)"]\n'
    text += '[[estimator]]\nuse = "noisy"\non = "bowl (size=3)"\n'
    trials = planned(text, registry)
    assert {(t.kind, t.problem.params["size"]) for t in trials} == {
        ("optimizer", 2),
        ("optimizer", 4),
        ("estimator", 3),
    }
    assert {t.method.label for t in trials} == {"slide", "noisy"}
    assert all("on" not in t.method.params for t in trials)


def test_a_star_stands_for_every_kernel(registry):
    trials = planned('repetitions = 1\n[[kernel]]\nuse = "*"\nsize = 10\n', registry)
    assert [trial.method.use for trial in trials] == list(registry.entries("kernel"))


def test_a_kernel_needs_no_problem_and_its_size_is_one(registry):
    trials = planned('repetitions = 1\n[[kernel]]\nuse = "column-dots"\nsize = [10, 1000]\n', registry)
    assert [t.problem.params["size"] for t in trials] == [10, 1000]
    assert [t.problem.label for t in trials] == ["size 10", "size 1,000"]
    assert {t.method.label for t in trials} == {"column-dots"}


def test_the_type_of_a_kernels_arguments_is_swept_and_leaves_its_data_alone(registry):
    text = '[[kernel]]\nuse = "column-dots"\nsize = 10\ndtype = ["float32", "float64"]\n'
    trials = planned(f"repetitions = 1\n{text}", registry)
    assert [t.method.label for t in trials] == ["column-dots (float32)", "column-dots (float64)"]
    assert len({data_seed(t) for t in trials}) == 1


MEADOWS = """from benchfw import DatasetName, hookimpl
from benchfw.data import Dataset

def sow(rows: int = 5): ...
def find(rest): return Dataset(f"garden:{rest}", "from a garden")
def make(backend, rng, dataset: DatasetName = "meadow", size: int = 3): ...

@hookimpl
def register_problems(register):
    register("grow", make)

@hookimpl
def register_datasets(register):
    register("meadow", Dataset("meadow", "a set that nobody can fetch"))
    register("meadow-like", sow)
    register("garden:", find)
"""


@pytest.fixture
def meadows(toys, plugin_file, tmp_path, monkeypatch):
    """A registry with data sets, and a folder with one more."""
    (tmp_path / "mine.npz").write_bytes(b"")
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return Registry([str(toys), str(plugin_file(MEADOWS, "meadows.py"))])


@pytest.mark.parametrize("name", ["meadow", "meadow-like(rows=9)", "garden:roses", "mine"])
def test_a_data_set_may_be_known_by_name_or_lie_in_a_folder(meadows, name):
    assert planned(f'[[problem]]\nuse = "grow"\ndataset = "{name}"\n' + SLIDE, meadows)


def test_what_quick_changes_is_planned_on_the_backends_of_the_run(registry):
    text = 'backends = ["nunpy"]\nquick = { repetitions = 1 }\n' + BASE + SLIDE
    check_quick(replace(parse_suite(text, "my.toml"), backends=("numpy",)), registry, "my.toml")


BARE = """from benchfw import hookimpl

def make(backend, rng, size): ...
def method(**params): ...

@hookimpl
def register_problems(register):
    register("p", make)

@hookimpl
def register_optimizers(register):
    register("m", method)
"""


def test_parameters_without_annotations_and_with_two_stars_take_what_is_given(plugin_file):
    registry = Registry([str(plugin_file(BARE, "bare.py"))])
    text = 'repetitions = 1\n[[problem]]\nuse = "p"\nsize = 3\n[[optimizer]]\nuse = "m"\nstep = 0.1\n'
    (trial,) = planned(text, registry)
    assert (trial.problem.params, trial.method.params) == ({"size": 3}, {"step": 0.1})


def test_only_an_estimator_has_a_place_an_optimizer_may_have_a_parameter_of_that_name(plugin_file):
    registry = Registry([str(plugin_file(BARE.replace("**params", "at: float"), "bare.py"))])
    text = '[[problem]]\nuse = "p"\nsize = 3\n[[optimizer]]\nuse = "m"\nat = 0.5\n'
    assert all((t.method.params, t.at) == ({"at": 0.5}, "start") for t in planned(text, registry))


FACTORY = """from typing import Any
from benchfw import Problem, hookimpl
from toys import Bowl

def make(backend, rng){annotation}:
    return Bowl(backend, rng)

@hookimpl
def register_problems(register):
    register("made", make)
"""


@pytest.mark.parametrize("annotation", ["", "Any", "object", "Problem", "'Nowhere'", "Bowl"])
def test_a_factory_that_does_not_say_what_it_makes_is_given_the_benefit_of_the_doubt(
    plugin_file, toys, annotation
):
    path = plugin_file(FACTORY.format(annotation=annotation and f" -> {annotation}"), "made.py")
    assert planned('[[problem]]\nuse = "made"\n' + SLIDE, Registry([str(toys), str(path)]))


def test_attributes_that_are_set_when_a_problem_is_built_are_not_missed():
    from benchfw import CountedProblem, FiniteSum

    class Sum(CountedProblem):
        def __init__(self):
            self.num_samples = 3

        def metrics(self, answer): ...
        def start(self): ...
        def value(self, params): ...
        def grad(self, params): ...
        def project(self, params): ...

    assert produced_class(Sum) is Sum
    assert missing_oracles(FiniteSum, Sum) == ["grad_batch"]


def test_only_keeps_what_matches(registry):
    trials = planned(BASE + SLIDE + "step = [0.1, 0.2]\n", registry)
    assert {t.method.label for t in select(trials, "step=0.1")} == {"slide (step=0.1)"}
    assert len(select(trials, "bowl/*/numpy")) == len(trials)


values = st.sampled_from(
    ["1", "-0.5", "nan", '"slide"', '"noisy"', "true", "1979-05-27", "[]", "[1, 2]", "[[1], [2]]", "{}",
     '["fast", "slow"]', '{ use = "noisy" }', '{ use = ["noisy", "noisy"] }', "{ use = 3 }", "{ scale = [] }",
     '{ use = "noisy", distribution = { use = "fixed" } }', '[{ use = "noisy" }, 3]']
)  # fmt: skip
tables = st.dictionaries(
    st.sampled_from(["step", "mode", "layers", "estimator", "label", "at", "size", "scale", "quick"]),
    values,
    max_size=3,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["optimizer", "estimator", "kernel"]), st.sampled_from(["slide", "noisy", "x"]), tables
)
@example("optimizer", "slide", {"step": "1979-05-27"})
def test_any_table_is_planned_or_a_benchfw_error(registry, kind, use, table):
    lines = "".join(f"{key} = {value}\n" for key, value in table.items())
    try:
        trials = planned(f'{BASE}[[{kind}]]\nuse = "{use}"\n{lines}', registry)
    except BenchfwError as fault:
        message = str(fault)
        assert "my.toml" in message
    else:
        found = [repr((t.kind, t.problem.table, t.method.table, t.at, t.repetition)) for t in trials]
        assert len(set(found)) == len(found)


EITHER = """
from dataclasses import dataclass
from toys import Slide
from benchfw import Smooth, SpectralSum, hookimpl

@dataclass(frozen=True)
class Either(Slide):
    solves = (SpectralSum, Smooth)

@hookimpl
def register_optimizers(register):
    register("either", Either)
"""


def test_of_several_oracle_protocols_one_is_enough(plugin_file, toys):
    registry = Registry([str(toys), str(plugin_file(EITHER, "either.py"))])
    assert planned(BASE + SLIDE.replace("slide", "either"), registry)


def test_a_claim_may_name_a_backend_and_every_problem(registry):
    text = "target = { gap = 1.0 }\n" + BASE + "size = [2, 3]\n" + SLIDE
    text += '[[claim]]\nsays = "b"\nmethod = "slide (cupy)"\nproblem = ["bowl (size=2)", "bowl (size=3)"]\n'
    assert len(planned(text + "reaches = true\n", registry)) == 4


def test_a_claim_about_the_full_size_may_name_what_a_quick_run_leaves_out(registry):
    text = BASE + '[[optimizer]]\nuse = "slide"\nstep = [0.1, 0.2]\nquick = { step = 0.1 }\n'
    claim = '[[claim]]\nsays = "It falls"\nmethod = "slide (step=0.2)"\nquantity = "gap at the end"\n'
    claim += "value = { below = 1 }\n"
    assert planned(text + claim, registry)
    with pytest.raises(SuiteError, match="no method is labelled"):
        plan(parse_suite(text + claim, "my.toml", quick=True), registry)
    assert plan(parse_suite(text + claim + "quick = false\n", "my.toml", quick=True), registry)
    with pytest.raises(SuiteError, match="no method is labelled"):
        planned(text + claim.replace("0.2", "0.3") + "quick = false\n", registry)


def test_a_path_counts_from_the_folder_of_the_suite(toys, plugin_file, tmp_path):
    plugin = plugin_file(
        """from dataclasses import dataclass
from benchfw import LocalPath, Problem, hookimpl

@dataclass(frozen=True)
class Reader:
    file: LocalPath
    solves = Problem

    def run(self, problem, rng):
        yield 0

@hookimpl
def register_optimizers(register):
    register("reader", Reader)
""",
        "reader.py",
    )
    text = """
[[problem]]
use = "bowl"
[[optimizer]]
use = "reader"
file = ["data/a.csv", "/data/b.csv"]
"""
    suite = parse_suite(text, str(tmp_path / "folder" / "suite.toml"))
    trials = plan(suite, Registry([str(toys), str(plugin)]), suite.where)
    files = [first.method.params["file"] for first in trials.firsts]
    assert files == [str(tmp_path / "folder" / "data" / "a.csv"), "/data/b.csv"]
    labels = [first.method.label for first in trials.firsts]
    assert labels == ["reader (file=data/a.csv)", "reader (file=/data/b.csv)"]


@pytest.mark.parametrize(
    ("text", "allowance"),
    [
        ("", (4, 2)),
        ("tune = { trials = 100 }", (4, 2)),
        ("tune = { trials = 3, repetitions = 1 }", (3, 1)),
        ("quick = { tune = { trials = 7, repetitions = 5 } }", (7, 5)),
    ],
)
def test_a_quick_run_tunes_with_few_trials_whether_or_not_the_suite_has_an_allowance(text, allowance):
    tuning = tuning_of(parse_suite(text, "quick.toml", quick=True))
    assert (tuning.trials, tuning.repetitions) == allowance
