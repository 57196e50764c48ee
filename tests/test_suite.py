"""Suite files: found and read."""

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from benchfw.errors import BenchfwError
from benchfw.records import Budget
from benchfw.suite import TOP_KEYS, find_suite, find_suites, parse_suite

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
    (tmp_path / "deep.toml").write_text("")
    assert find_suites("deep", [tmp_path]) == [tmp_path / "deep.toml"]
