"""Lists in a suite are sweeps, and what comes out of them has names that tell it apart."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from benchfw.errors import SuiteError
from benchfw.records import Spec
from benchfw.sweep import expand, label_specs

names = st.sampled_from(["step", "size", "mode", "estimator", "inner_estimator"])
scalars = st.integers(-3, 3) | st.floats(allow_nan=False) | st.sampled_from(["a", "b", "1"]) | st.booleans()
sweeps = st.recursive(
    st.dictionaries(names, scalars | st.lists(scalars, min_size=1, max_size=3), max_size=3),
    lambda inner: st.dictionaries(names, scalars | inner, max_size=3),
    max_leaves=4,
)


def size_of(value):
    if isinstance(value, dict):
        return math.prod(size_of(each) for each in value.values())
    return len(value) if isinstance(value, list) else 1


@given(sweeps)
def test_a_table_gives_one_setting_for_each_combination_of_its_lists(table):
    assert len(expand(table, "somewhere")) == size_of(table)


@given(sweeps)
def test_no_list_is_left_when_a_table_is_spelled_out(table):
    def has_list(value):
        return isinstance(value, list) or (isinstance(value, dict) and any(map(has_list, value.values())))

    assert not any(has_list(each) for each in expand(table, "somewhere"))


def test_the_last_list_is_the_fastest():
    table = {"use": "sgd", "step": [1, 2], "size": ["a", "b"]}
    assert [(each["step"], each["size"]) for each in expand(table, "")] == [
        (1, "a"),
        (1, "b"),
        (2, "a"),
        (2, "b"),
    ]


def test_a_list_in_a_nested_table_is_a_sweep_plugin_names_included():
    table = {"use": "sgd", "estimator": {"use": ["exact", "minibatch"], "size": [1, 2]}}
    found = [(each["estimator"]["use"], each["estimator"]["size"]) for each in expand(table, "")]
    assert found == [("exact", 1), ("exact", 2), ("minibatch", 1), ("minibatch", 2)]


def test_a_list_of_tables_is_a_sweep_over_what_each_table_sweeps():
    table = {"estimator": [{"use": "exact"}, {"use": "minibatch", "size": [1, 2]}]}
    assert [each["estimator"] for each in expand(table, "")] == [
        {"use": "exact"},
        {"use": "minibatch", "size": 1},
        {"use": "minibatch", "size": 2},
    ]


def test_a_list_inside_a_list_is_a_value_not_a_sweep():
    assert expand({"layers": [[8, 8]]}, "") == [{"layers": (8, 8)}]
    assert len(expand({"layers": [[8, 8], [16]]}, "")) == 2


def specs(*tables, label=""):
    return [Spec(each["use"], {k: v for k, v in each.items() if k != "use"}, label) for each in tables]


def labels(given):
    return [each.label for each in label_specs(given, "optimizer", "my.toml")]


def test_a_method_alone_is_called_by_its_name_or_its_label():
    assert labels(specs({"use": "sgd", "step": 1})) == ["sgd"]
    assert labels(specs({"use": "sgd", "step": 1}, label="SGD, mine")) == ["SGD, mine"]


def test_methods_of_one_name_are_told_apart_by_what_differs_and_by_nothing_else():
    found = labels(specs({"use": "sgd", "step": 0.1, "size": 3}, {"use": "sgd", "step": 0.2, "size": 3}))
    assert found == ["sgd (step=0.1)", "sgd (step=0.2)"]


def test_a_nested_plugin_that_differs_is_named():
    found = labels(
        specs({"use": "sgd", "estimator": {"use": "exact"}}, {"use": "sgd", "estimator": {"use": "svrg"}})
    )
    assert found == ["sgd (exact)", "sgd (svrg)"]


def test_one_label_over_two_plugins_still_tells_them_apart():
    assert len(set(labels(specs({"use": "gd"}, {"use": "adam"}, label="mine")))) == 2


def test_a_label_that_is_another_methods_name_still_tells_them_apart():
    given = [*specs({"use": "adam"}, label="gd"), *specs({"use": "gd"})]
    assert labels(given) == ["gd (adam)", "gd"]


def test_parameters_that_differ_in_the_seventh_figure_are_told_apart():
    assert (
        len(set(labels(specs({"use": "sgd", "step": 0.12345678}, {"use": "sgd", "step": 0.12345679})))) == 2
    )


settings = st.dictionaries(names, scalars | st.dictionaries(names, scalars, max_size=2), max_size=2)


@given(st.lists(settings, min_size=1, max_size=4, unique_by=repr))
@example([{"a": {"size": 1}}, {"b": {"size": 1}}])
@example([{"step": 1}, {"step": 1.0}])
def test_different_settings_never_share_a_label(tables):
    try:
        found = labels(specs(*({"use": "sgd", **each} for each in tables)))
    except SuiteError as fault:
        message = str(fault)
        assert any(word in message for word in ("repeats", "label"))  # {} and {"a": {}} say the same
    else:
        assert len(set(found)) == len(tables)
