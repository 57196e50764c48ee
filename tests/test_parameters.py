"""What a factory takes, and what a suite's value may stand for."""

import functools
import importlib
import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw import Estimator
from benchfw.parameters import (
    CodeFolder,
    CodePlace,
    Count,
    DatasetName,
    Fraction,
    LocalPath,
    NonNegative,
    Parameter,
    Positive,
    Range,
    Trusted,
    accepts_any_keyword,
    describe_type,
    fits,
    meanings_of,
    misfit,
    parameters_of,
    widen_int,
    without_parameters,
)

toml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (1, float),
        (1.5, float),
        (3, int),
        (True, bool),
        ("auto", str),
        ("auto", float | Literal["auto"]),
        (0.1, Optional[float]),  # noqa: UP045 - as older plugins write it
        ([8, 8], tuple[int, ...]),
        ((8, 8), list[int]),
        ([1.0], Sequence[float]),
        ({"a": 1}, dict[str, int]),
        ({"a": 1}, Mapping[str, int]),
        ({"use": "noisy"}, Estimator),
        ({"use": "noisy"}, Estimator | None),
    ],
)
def test_a_value_of_the_type_asked_for_fits(value, hint):
    assert fits(value, hint)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("0.1", float),
        (True, float),
        (True, int),
        (1.0, int),
        (1, bool),
        (1, str),
        ("fats", Literal["fast", "slow"]),
        (True, Literal[1]),
        (3, tuple[int, ...]),
        ("ab", Sequence[str]),
        (0.5, Estimator),
        ({"size": 3}, Estimator),
        ({"use": "noisy"}, float),
    ],
)
def test_a_value_of_another_type_does_not_fit(value, hint):
    assert not fits(value, hint)


@given(toml_values)
def test_a_parameter_without_a_type_or_of_type_object_takes_any_value(value):
    assert fits(value, Any)
    assert fits(value, object)


def test_backend_and_rng_are_not_parameters_of_a_problem():
    def make(backend, rng, size: int, scale: float = 2.0): ...

    found = parameters_of(make, hidden=2)
    assert list(found) == ["size", "scale"]
    assert found["size"].required
    assert not found["scale"].required
    assert found["scale"].default == 2.0
    assert found["scale"].hint is float


def test_a_default_of_none_does_not_make_a_parameter_required():
    def make(limit: float | None = None): ...

    assert not parameters_of(make)["limit"].required


def test_the_fields_of_a_dataclass_are_its_parameters():
    @dataclass(frozen=True)
    class Method:
        step: float
        size: int = 3

    assert {name: each.hint for name, each in parameters_of(Method).items()} == {"step": float, "size": int}


def test_a_partial_function_and_a_class_without_init_can_be_read():
    class Nothing: ...

    def make(a: int, b: int = 2): ...

    assert parameters_of(Nothing) == {}
    assert not parameters_of(functools.partial(make, a=1))["a"].required


def test_annotations_that_cannot_be_resolved_leave_the_names_known():
    def make(step: "NotImported" = 1): ...  # noqa: F821 - the point

    assert fits(3, parameters_of(make)["step"].hint)


def test_only_a_factory_with_two_stars_accepts_any_keyword():
    assert accepts_any_keyword(lambda **params: None)
    assert not accepts_any_keyword(lambda step=1: None)


def test_types_are_spelled_as_a_person_would():
    assert describe_type(float) == "float"
    assert describe_type(float | None) == "float or nothing"
    assert describe_type(Literal["fast", "slow"]) == "'fast' or 'slow'"
    assert "'use'" in describe_type(Estimator)
    assert "Estimator" in describe_type(Estimator)


def test_the_types_of_inherited_fields_are_those_of_the_module_that_declares_them(tmp_path, monkeypatch):
    (tmp_path / "the_base.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from typing import Literal\n"
        "@dataclass(frozen=True)\n"
        'class Base:\n    kind: Literal["a", "b"] = "a"\n'
    )
    (tmp_path / "the_rest.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from the_base import Base\n"
        "@dataclass(frozen=True)\n"
        "class Rest(Base):\n    size: int = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = parameters_of(importlib.import_module("the_rest").Rest)
    assert found["size"].hint is int
    assert not fits("c", found["kind"].hint)


OPEN = Annotated[float, Range(least=0, below=1)]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (1e-9, Positive),
        (3, Positive),
        (0, NonNegative),
        (1.0, Fraction),
        (1, Count),
        (0.0, OPEN),
        ("auto", Positive | Literal["auto"]),
        (None, Count | None),
    ],
)
def test_a_value_in_its_range_fits(value, hint):
    assert fits(value, hint)


@pytest.mark.parametrize(
    ("value", "hint", "sentence"),
    [
        (-1, Positive, "step must be positive, got -1"),
        (-0.5, NonNegative, "step must be at least 0, got -0.5"),
        (1.5, Fraction, "step must be from 0 to 1, got 1.5"),
        (1.0, OPEN, "step must be at least 0 and below 1, got 1.0"),
        (0, Count, "step must be a whole number from 1, got 0"),
        (2.0, Count, "step must be a whole number from 1, got 2.0"),
        (True, Count, "step must be a whole number from 1, got True"),
        ("big", Positive | Literal["auto"], "step must be positive or 'auto', got 'big'"),
        (0, Positive | None, "step must be positive or nothing, got 0"),
        (math.inf, Positive, "step must be positive and finite, got inf"),
        (math.nan, NonNegative, "step must be at least 0 and finite, got nan"),
        (3, DatasetName, "step must be the name of a data set, got 3"),
    ],
)
def test_a_value_outside_of_its_range_is_refused_in_one_sentence(value, hint, sentence):
    assert not fits(value, hint)
    assert misfit("step", value, hint) == sentence


def test_a_whole_number_is_widened_where_a_float_is_meant():
    assert isinstance(widen_int(1, Positive | Literal["auto"]), float)
    assert isinstance(widen_int(1, Count), int)
    assert isinstance(widen_int(1, float | int), int)


def test_only_a_type_makes_a_parameter_name_a_data_set():
    def make(dataset: str = "mnist", source: DatasetName | None = None): ...

    found = parameters_of(make)
    assert {name: each.names_dataset for name, each in found.items()} == {"dataset": False, "source": True}


@dataclass(frozen=True)
class Documented:
    """Slides."""

    step: Positive = 0.1
    """Step length,
    in metres."""
    size: int = 3
    solves = None
    """Not a parameter."""


@dataclass(frozen=True)
class Inherited(Documented):
    """Slides further."""

    size: int = 4
    """How many."""


class Built:
    """A bowl.

    Parameters:
      size: dimensions of
        the space.
      scale: its width.

    Said afterwards.
    """

    def __init__(self, size: int, scale: float): ...


def test_what_a_parameter_means_stands_below_its_field():
    assert meanings_of(Documented) == {"step": "Step length, in metres."}
    assert meanings_of(Inherited) == {"step": "Step length, in metres.", "size": "How many."}


def test_what_an_argument_means_stands_in_the_docstring():
    assert meanings_of(Built) == {"size": "dimensions of the space.", "scale": "its width."}
    assert without_parameters(inspect.getdoc(Built)) == "A bowl.\n\nSaid afterwards."


def test_a_class_without_source_has_no_meanings():
    kind = {}
    exec("from dataclasses import dataclass\n@dataclass\nclass Typed:\n    step: float = 1.0\n", kind)
    assert meanings_of(kind["Typed"]) == {}


def test_a_whole_number_beyond_all_floats_is_not_in_a_range():
    assert not fits(10**400, Positive)
    assert fits(10**300, Positive)


@pytest.mark.parametrize(
    ("hint", "named"),
    [
        (CodePlace, True), (CodeFolder | None, True), (list[CodePlace], True),
        (Mapping[str, tuple[CodePlace, float]] | None, True), (Annotated[CodePlace, Trusted("a:b")], True),
        (str, False), (LocalPath, False), (list[str] | None, False), (Literal["names code"], False),
    ],
)  # fmt: skip
def test_a_type_says_at_any_depth_that_it_names_code(hint, named):
    assert Parameter("code", hint).names_code is named


def test_only_the_default_and_what_a_pattern_matches_as_a_whole_is_trusted():
    found = Parameter("code", list[Annotated[CodePlace, Trusted("lib:[a-z]+")]], default="mine:f")
    places = ["lib:sum", "mine:f", "lib:sum_", "lib:", "os.lib:sum", "lib:sum\n", "mine:g"]
    assert [each for each in places if found.trusts(each)] == ["lib:sum", "mine:f"]
