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


def fault_of(text, registry):
    with pytest.raises(SuiteError) as caught:
        planned(text, registry)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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
    with pytest.raises(SuiteError, match="dtype must be 'float32' or 'float64', got 'float16'"):
        planned(text.replace('["float32", "float64"]', '"float16"'), registry)


MISTAKES = {
    "unknown place": (
        SLIDE + 'on = "bowll"\n',
        "'slide' is on an unknown problem 'bowll'",
        "did you mean 'bowl'?",
    ),
    "place that is not a label": (SLIDE + "on = 3\n", "[[optimizer]] 1", "'on' must be the label", "3"),
    "unknown reference": (
        'reference = "slid"\n' + SLIDE,
        "reference 'slid' is not the label of a method",
        "'slide'",
    ),
    "unknown name": (
        SLIDE.replace("slide", "slidee"),
        "unknown optimizer 'slidee'",
        "mean 'slide'",
        "my.toml",
    ),
    "unknown parameter": (SLIDE + "stepp = 1\n", "[[optimizer]] 1", "'stepp'", "'step'", "mode, layers"),
    "wrong type": (SLIDE + 'step = "big"\n', "step must be float, got 'big', in my.toml, [[optimizer]] 1"),
    "wrong type in a sweep": (SLIDE + 'step = [0.1, "big"]\n', "step", "'big'"),
    "a value outside of its range": (
        '[[estimator]]\nuse = "noisy"\nscale = -1\n',
        "scale must be at least 0, got -1, in my.toml, [[estimator]] 1",
    ),
    "a nested value outside of its range": (
        SLIDE + 'estimator = { use = "noisy", scale = -1 }\n',
        "scale must be at least 0, got -1, in my.toml, [[optimizer]] 1, estimator",
    ),
    "unknown choice": (SLIDE + 'mode = "fats"\n', "'fast' or 'slow'", "'fats'"),
    "empty sweep": (SLIDE + "step = []\n", "my.toml, [[optimizer]] 1", "'step' is an empty list"),
    "label of a kernel": (
        '[[kernel]]\nuse = "column-dots"\nsize = 9\nlabel = "x"\n',
        "no parameter 'label'",
    ),
    "label of a wrong type": (SLIDE + "label = 3\n", "'label' must be a string"),
    "a name that is a list": ('[[optimizer]]\nuse = [["slide"]]\n', "'use' must be a name"),
    "unknown nested name": (
        SLIDE + 'estimator = { use = "nosy" }\n',
        "unknown estimator 'nosy'",
        "mean 'noisy'",
        "[[optimizer]] 1, estimator",
    ),
    "unknown nested parameter": (
        SLIDE + 'estimator = { use = "noisy", scael = 1.0 }\n',
        "[[optimizer]] 1, estimator",
        "'scael'",
        "'scale'",
    ),
    "parameter two levels down": (
        SLIDE + 'estimator = { use = "noisy", distribution = { use = "fixed", mean = 1.5 } }\n',
        "estimator, distribution",
        "mean must be int",
        "1.5",
    ),
    "a nested table without use": (
        SLIDE + "estimator = { scale = 1.0 }\n",
        "estimator must be a table",
        "'use'",
    ),
    "no oracles": (
        SLIDE.replace("slide", "needy"),
        "'needy' needs a Composite problem",
        "'bowl' has no penalty, prox",
    ),
    "no oracles for a nested estimator": (
        SLIDE + 'estimator = { use = "batched" }\n',
        "estimator 'batched' needs a FiniteSum problem",
        "'bowl' has no grad_batch",
    ),
    "no method": ("", "names no method"),
    "no size": ('[[kernel]]\nuse = "column-dots"\n', "kernel 'column-dots' needs the parameter 'size'"),
    "a wrong place": (
        '[[estimator]]\nuse = "noisy"\nat = "end"\n',
        "at must be",
        "'start' or 'optimum'",
        "'end'",
    ),
    "a backend that nobody knows": ('backends = ["nunpy"]\n' + SLIDE, "'nunpy'", "mean 'numpy'", "my.toml"),
    "a backend named twice": ('backends = ["numpy", "numpy"]\n' + SLIDE, "backend 'numpy' is named twice"),
    "the same place twice": (
        '[[estimator]]\nuse = "noisy"\n[[estimator]]\nuse = "noisy"\nat = "start"\n',
        "noisy",
        "repeats",
    ),
    "the same value twice": (SLIDE + "step = [0.1, 0.1]\n", "slide", "repeats"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_says_what_and_where(registry, mistake):
    text, *parts = MISTAKES[mistake]
    head, _, tail = text.partition("[[")
    message = fault_of(head + BASE + ("[[" + tail if tail else ""), registry)
    for part in parts:
        assert part in message


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


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("meadw", "no plugin registers it; did you mean 'meadow'?"),
        ("mnie", "no plugin registers it; did you mean 'mine'?"),
        ("gardn:roses", "no plugin registers it; did you mean 'garden:'?"),
        ("garden:", "'garden:' names a source, not a data set; write garden:NAME"),
        ("meadow-like(row=9)", "data set 'meadow-like' has no parameter 'row'; did you mean 'rows'?"),
        ("meadow-like(rows='x')", "rows must be int, got 'x', in data set 'meadow-like'"),
        ("meadow(rows=9)", "data set 'meadow' takes no parameters, got rows"),
        ("meadow-liek(rows=9)", "no plugin registers it; did you mean 'meadow-like'?"),
        ("", "'' does not name a data set"),
    ],
)
def test_a_data_set_that_is_nowhere_is_found_before_anything_runs(meadows, name, said):
    message = fault_of(f'[[problem]]\nuse = "grow"\ndataset = "{name}"\n' + SLIDE, meadows)
    assert message.startswith("my.toml, [[problem]] 1: ")
    assert said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + "quick = { sizes = 3 }\n" + SLIDE, "[[problem]] 1: problem 'bowl' has no parameter 'sizes'"),
        (BASE + SLIDE + 'quick = { step = "big" }\n', "step must be float, got 'big', in"),
        ("quick = { repetitions = 0 }\n" + BASE + SLIDE, "repetitions must be at least 1, got 0"),
        ("quick = { budget = { iterations = -1 } }\n" + BASE + SLIDE, "budget iterations must be a positive"),
    ],
)
def test_what_quick_changes_is_checked_in_every_run(registry, text, said):
    with pytest.raises(SuiteError) as caught:
        check_quick(parse_suite(text, "my.toml"), registry, "my.toml")
    assert said in str(caught.value)
    assert "my.toml with --quick" in str(caught.value)


def test_what_quick_changes_is_planned_on_the_backends_of_the_run(registry):
    text = 'backends = ["nunpy"]\nquick = { repetitions = 1 }\n' + BASE + SLIDE
    check_quick(replace(parse_suite(text, "my.toml"), backends=("numpy",)), registry, "my.toml")


def test_methods_without_a_problem_are_an_error(registry):
    assert "names no problem" in fault_of(SLIDE, registry)


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


def test_a_required_parameter_that_is_missing_is_named(plugin_file):
    registry = Registry([str(plugin_file(BARE, "bare.py"))])
    message = fault_of('[[problem]]\nuse = "p"\n[[optimizer]]\nuse = "m"\n', registry)
    assert "problem 'p' needs the parameter 'size'" in message


def test_parameters_without_annotations_and_with_two_stars_take_what_is_given(plugin_file):
    registry = Registry([str(plugin_file(BARE, "bare.py"))])
    text = 'repetitions = 1\n[[problem]]\nuse = "p"\nsize = 3\n[[optimizer]]\nuse = "m"\nstep = 0.1\n'
    (trial,) = planned(text, registry)
    assert (trial.problem.params, trial.method.params) == ({"size": 3}, {"step": 0.1})


def test_only_an_estimator_has_a_place_an_optimizer_may_have_a_parameter_of_that_name(plugin_file):
    registry = Registry([str(plugin_file(BARE.replace("**params", "at: float"), "bare.py"))])
    text = '[[problem]]\nuse = "p"\nsize = 3\n[[optimizer]]\nuse = "m"\nat = 0.5\n'
    assert all((t.method.params, t.at) == ({"at": 0.5}, "start") for t in planned(text, registry))


def test_a_date_is_no_value_of_a_parameter(plugin_file):
    registry = Registry([str(plugin_file(BARE, "bare.py"))])
    text = '[[problem]]\nuse = "p"\nsize = 1979-05-27\n[[optimizer]]\nuse = "m"\n'
    assert "'size'" in fault_of(text, registry)


def test_a_table_for_a_parameter_that_names_no_kind_is_not_handed_over_as_it_is(plugin_file, toys):
    text = BARE.replace("import hookimpl", "import Estimator, hookimpl")
    path = plugin_file(text.replace("method(**params)", "method(oracle: Estimator)"), "bare.py")
    text = '[[problem]]\nuse = "p"\nsize = {}\n[[optimizer]]\nuse = "m"\noracle = { use = "nosy" }\n'
    assert "oracle" in fault_of(text, Registry([str(toys), str(path)]))


FACTORY = """from typing import Any
from benchfw import Problem, hookimpl
from toys import Bowl

def make(backend, rng){annotation}:
    return Bowl(backend, rng)

@hookimpl
def register_problems(register):
    register("made", make)
"""


def made(plugin_file, toys, annotation):
    path = plugin_file(FACTORY.format(annotation=annotation), "made.py")
    return Registry([str(toys), str(path)])


def test_the_return_annotation_of_a_function_tells_what_oracles_there_are(plugin_file, toys):
    registry = made(plugin_file, toys, " -> Bowl")
    text = '[[problem]]\nuse = "made"\n' + SLIDE
    assert planned(text, registry)
    assert "'made' has no penalty, prox" in fault_of(text.replace("slide", "needy"), registry)


@pytest.mark.parametrize("annotation", ["", " -> Any", " -> object", " -> Problem", " -> 'Nowhere'"])
def test_a_factory_that_does_not_say_what_it_makes_is_given_the_benefit_of_the_doubt(
    plugin_file, toys, annotation
):
    assert planned('[[problem]]\nuse = "made"\n' + SLIDE, made(plugin_file, toys, annotation))


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


def test_only_keeps_what_matches_and_says_when_nothing_does(registry):
    trials = planned(BASE + SLIDE + "step = [0.1, 0.2]\n", registry)
    assert {t.method.label for t in select(trials, "step=0.1")} == {"slide (step=0.1)"}
    assert len(select(trials, "bowl/*/numpy")) == len(trials)
    with pytest.raises(SuiteError, match="--only 'step=9' matches no trial"):
        select(trials, "step=9")


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


def test_of_several_oracle_protocols_one_is_enough(plugin_file):
    path = plugin_file(
        """
from dataclasses import dataclass
from benchfw import Composite, CountedProblem, Smooth, SpectralSum, hookimpl

@dataclass(frozen=True)
class Either:
    solves = (SpectralSum, Smooth)

@dataclass(frozen=True)
class Neither:
    solves = (SpectralSum, Composite)

class Hill(CountedProblem):
    def __init__(self, backend, rng): ...
    def start(self): ...
    def value(self, params): ...
    def grad(self, params): ...
    def project(self, params): ...
    def metrics(self, answer): ...

@hookimpl
def register_problems(register):
    register("hill", Hill)

@hookimpl
def register_optimizers(register):
    register("either", Either)
    register("neither", Neither)
""",
        "several.py",
    )
    registry = Registry([str(path)])
    text = 'budget = { iterations = 5 }\n[[problem]]\nuse = "hill"\n[[optimizer]]\nuse = '
    assert planned(text + '"either"\n', registry)
    said = fault_of(text + '"neither"\n', registry)
    assert "optimizer 'neither' needs a SpectralSum or Composite problem, but problem 'hill' has no" in said


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
