"""Suite files: found, read, and every mistake in them explained."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchfw.errors import BenchfwError, SuiteError
from benchfw.records import Budget
from benchfw.suite import TOP_KEYS, find_suite, find_suites, parse_suite, read_suite

METHODS = '[[problem]]\nuse = "bowl"\n[[optimizer]]\nuse = "slide"\n'


def parse(text, **options):
    return parse_suite(text + METHODS, "suites/my.toml", **options)


def test_what_a_suite_says_is_what_is_read():
    suite = parse(
        'title = "T"\nseed = 3\nrepetitions = 4\nbackends = ["numpy", "cupy"]\nprecision = 0.1\n'
        'budget = { seconds = 2, iterations = 30, cost = 1e3 }\ntarget = { gap = 1e-3 }\nplugins = ["a.py"]\n'
    )
    assert (suite.name, suite.title, suite.seed, suite.repetitions) == ("my", "T", 3, 4)
    assert suite.backends == ("numpy", "cupy")
    assert suite.plugins == ("a.py",)
    assert suite.budget == Budget(2, 30, 1000)
    assert (suite.target, suite.precision) == ({"gap": 1e-3}, 0.1)
    assert [each["use"] for each in suite.tables["problem"]] == ["bowl"]


def test_a_suite_that_says_little_is_bounded_all_the_same():
    suite = parse("")
    assert suite.title == "my"
    assert suite.repetitions >= 1
    assert suite.backends == ("numpy",)
    assert suite.budget.seconds
    assert suite.budget.iterations


MISTAKES = {
    "no TOML": ("title = \n", "not valid TOML", "line 1"),
    "unknown key": ("repetition = 3\n", "unknown key 'repetition'", "did you mean 'repetitions'"),
    "unknown budget key": ("budget = { second = 3 }\n", "budget", "'second'", "did you mean 'seconds'"),
    "unknown quick key": ("quick = { seed = 3 }\n", "[quick]", "'seed'"),
    "title of a wrong type": ("title = 3\n", "'title' must be a string", "3"),
    "seed of a wrong type": ("seed = 1.5\n", "'seed' must be a whole number", "1.5"),
    "a truth value as number": ("repetitions = true\n", "'repetitions' must be a whole number"),
    "backends of a wrong type": ('backends = "numpy"\n', "'backends' must be a list"),
    "a backend that is not a name": ("backends = [1]\n", "backends", "must be a string"),
    "no backend": ("backends = []\n", "backends is an empty list", "numpy"),
    "no repetition": ("repetitions = 0\n", "repetitions must be at least 1", "0"),
    "a budget that is a number": ("budget = 3\n", "'budget' must hold named values, such as seconds = 10"),
    "an empty budget": ("budget = {}\n", "budget is empty", "seconds, iterations or cost"),
    "a zero budget": ("budget = { seconds = 0 }\n", "budget seconds must be a positive number, got 0"),
    "a negative budget": ("budget = { cost = -1.0 }\n", "budget cost must be a positive number, got -1.0"),
    "a budget of text": ('budget = { cost = "1" }\n', "budget cost must be a positive number, got '1'"),
    "half an iteration": ("budget = { iterations = 0.5 }\n", "budget iterations", "0.5"),
    "a budget that is not a number": ("budget = { seconds = nan }\n", "budget seconds must be a positive"),
    "endless iterations": ("budget = { iterations = inf }\n", "budget iterations", "inf"),
    "a target of text": ('target = { gap = "low" }\n', "target gap must be a finite number, got 'low'"),
    "a precision of zero": ("precision = 0\n", "precision must be a positive number, got 0"),
    "a plugin that is not a name": ("plugins = [3]\n", "plugins", "must be a string"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_file_and_what_is_wrong(mistake):
    text, *parts = MISTAKES[mistake]
    with pytest.raises(SuiteError) as caught:
        parse(text)
    message = str(caught.value)
    assert "\n" not in message
    for part in ("suites/my.toml", *parts):
        assert part in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[optimizer]]\nstep = 1\n", "[[optimizer]] 2: 'use' is missing"),
        ("[optimizer_]\n", "unknown key 'optimizer_'; did you mean 'optimizer'"),
        ("[[estimator]]\nuse = 3\n", "[[estimator]] 1: 'use'"),
        ("[estimator]\nuse = 'noisy'\n", "must be written as [[estimator]] tables"),
    ],
)
def test_a_mistake_in_a_table_names_its_kind_and_number(text, part):
    with pytest.raises(SuiteError) as caught:
        parse_suite(METHODS + text, "my.toml")
    assert part in str(caught.value)


toml_texts = st.text(alphabet='abcdefgu=[]{}"\n,.-+0123456789 ', max_size=60)


@given(toml_texts)
@example("budget = { iterations = inf }")
@example("seed = " + "9" * 5000)
@example("a = " + "[" * 5000)
def test_any_text_is_a_suite_or_a_benchfw_error(text):
    try:
        parse_suite(text, "x.toml")
        parse_suite(text, "x.toml", quick=True)
    except BenchfwError as fault:
        message = str(fault)
        assert "x.toml" in message


keys = st.sampled_from(sorted(TOP_KEYS))
atoms = st.sampled_from(
    ["1", "-2", "0.5", "inf", "nan", '"x"', "true", "1979-05-27", "[]", "{}", "[1]", '["a"]', "[[1]]",
     "{ seconds = 1 }", "{ iterations = 5 }", "{ cost = inf }", "{ iterations = inf }", '[{ use = "a" }]',
     "{ repetitions = 2 }", "{ budget = { cost = 2 } }"]
)  # fmt: skip


@given(st.dictionaries(keys, atoms, max_size=4), st.booleans())
def test_any_table_is_a_suite_or_a_benchfw_error(table, quick):
    text = "".join(f"{key} = {value}\n" for key, value in table.items())
    try:
        suite = parse_suite(text, "x.toml", quick=quick)
    except BenchfwError as fault:
        message = str(fault)
        assert "x.toml" in message
    else:
        assert suite.repetitions >= 1


def test_quick_is_two_repetitions_and_a_tenth_of_the_budget():
    suite = parse("repetitions = 20\nbudget = { seconds = 30, iterations = 2000, cost = 1e6 }\n", quick=True)
    assert suite.repetitions == 2
    assert suite.budget == Budget(3, 200, 1e5)


@given(st.floats(1e-3, 1e6), st.integers(1, 10**6), st.floats(1e-3, 1e9), st.integers(1, 9))
def test_quick_is_never_more_than_the_whole(seconds, iterations, cost, repetitions):
    text = f"repetitions = {repetitions}\n"
    text += f"budget = {{ seconds = {seconds!r}, iterations = {iterations}, cost = {cost!r} }}\n"
    whole, quick = parse(text), parse(text, quick=True)
    assert quick.repetitions <= whole.repetitions
    assert quick.budget.seconds <= whole.budget.seconds
    assert quick.budget.iterations <= whole.budget.iterations
    assert quick.budget.cost <= whole.budget.cost


def test_what_a_quick_table_says_holds_only_when_asked_for():
    text = (
        'quick = { repetitions = 3 }\n[[problem]]\nuse = "bowl"\nsize = 100\nquick = { size = 2 }\n'
        '[[optimizer]]\nuse = "slide"\n'
    )
    whole, quick = parse_suite(text, "q.toml"), parse_suite(text, "q.toml", quick=True)
    assert (whole.repetitions, quick.repetitions) == (5, 3)
    assert whole.tables["problem"] == [{"use": "bowl", "size": 100}]
    assert quick.tables["problem"] == [{"use": "bowl", "size": 2}]


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SuiteError, match=r"bad\.toml: cannot be read"):
        read_suite(path)
    with pytest.raises(SuiteError, match="cannot be read"):
        read_suite(tmp_path)


def test_a_suite_is_found_by_path_and_by_name_in_the_first_folder_that_has_it(tmp_path):
    for folder in ("one/deep", "two/deep"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "rates.toml").write_text("")
    folders = [tmp_path / "one", tmp_path / "two"]
    assert find_suite("deep/rates", folders) == tmp_path / "one/deep/rates.toml"
    assert find_suite("deep/rates.toml", folders) == tmp_path / "one/deep/rates.toml"
    path = str(tmp_path / "two/deep/rates.toml")
    assert find_suite(path, folders) == Path(path)


def test_the_name_of_a_folder_stands_for_its_suites_unless_a_suite_is_called_so(tmp_path):
    for name in ("deep/rates.toml", "deep/sums.toml", "deep/notes.py", "deep/below/more.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    both = [tmp_path / "deep/rates.toml", tmp_path / "deep/sums.toml"]
    assert find_suites("deep", [tmp_path]) == find_suites(str(tmp_path / "deep"), []) == both
    with pytest.raises(SuiteError, match=r"'deep' is a folder of 2 suites \(rates, sums\); name one of them"):
        find_suite("deep", [tmp_path])
    (tmp_path / "deep.toml").write_text("")
    assert find_suites("deep", [tmp_path]) == [tmp_path / "deep.toml"]


@pytest.mark.parametrize("name", ["deep/ratse", "", "a\0b", "x" * 300])
def test_an_unknown_suite_is_named_with_the_nearest_or_the_way_to_all(tmp_path, name):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "rates.toml").write_text("")
    with pytest.raises(SuiteError) as caught:
        find_suite(name, [tmp_path])
    assert f"no suite '{name}', neither as a file nor among the installed ones" in str(caught.value)
    close = name == "deep/ratse"
    assert ("did you mean 'deep/rates'?" if close else "`benchfw list suites`") in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key"),
    [("budget = { cost = %s }", "cost"), ("seed = %s", "seed"), ("target = { gap = %s }", "gap")],
)
def test_a_whole_number_that_toml_does_not_have_is_refused(text, key):
    with pytest.raises(SuiteError, match=f"'{key}' is a whole number of 400 digits; use at most 18"):
        parse_suite(text % ("9" * 400), "s.toml")
