"""What problems and methods say of themselves travels with the trial."""

import re
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from benchfw.adapters import OracleProblem, Oracles
from benchfw.errors import BenchfwError, Untrue
from benchfw.measure.endings import explain, facts_of_answer, facts_of_method, outcome_of
from benchfw.records import Ending


@dataclass(frozen=True)
class Law:
    mean: float = 5.0

    def facts(self, problem):
        return {"mean": self.mean, "unknown": float("nan")}

    def caveats(self, problem):
        return [f"a mean of {self.mean:g} is little on {problem.name}"]


@dataclass(frozen=True)
class Outer:
    law: Law = field(default_factory=Law)

    def facts(self, problem):
        return {"degree": 3}


PROBLEM = SimpleNamespace(name="toy", caveats=("made-up data",))


def test_facts_of_a_method_and_of_the_methods_inside_it_are_recorded_once():
    facts, _ = facts_of_method(Outer(), PROBLEM)
    assert facts == {"degree": 3.0, "mean": 5.0}


def test_caveats_are_those_of_the_problem_and_of_the_method():
    _, caveats = facts_of_method(Outer(), PROBLEM)
    assert caveats == ("made-up data", "a mean of 5 is little on toy")


def test_who_has_nothing_to_say_adds_nothing():
    assert facts_of_method(object(), object()) == ({}, ())


def test_a_fault_while_telling_leaves_the_trial_as_it_ended():
    facts, caveats = facts_of_method(Law(), SimpleNamespace())  # without a name, its caveat cannot be made
    assert facts == {"mean": 5.0}
    assert caveats[0].startswith("Law could not report its facts (AttributeError")


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


class Odd:
    def __init__(self, caveats=(), facts=None):
        self.caveats = lambda problem: caveats
        self.facts = lambda problem: facts or {}


class Raising:
    @property
    def caveats(self):
        raise Mute


@pytest.mark.parametrize(
    ("method", "problem", "words"),
    [
        (object(), SimpleNamespace(caveats=lambda: ["made-up data"]), "SimpleNamespace .*TypeError"),
        (object(), SimpleNamespace(caveats=(1,)), "SimpleNamespace .*TypeError: 1 is not text"),
        (object(), Raising(), "Raising .*Mute: its message cannot be printed"),
        (Odd((3,)), object(), "Odd .*TypeError: 3 is not text"),
        (Odd(None), object(), "Odd .*TypeError"),
        (Odd((), {1: 2.0}), object(), "Odd .*TypeError: 1 is not text"),
        (Odd((), {"rank": "high"}), object(), "Odd .*ValueError"),
    ],
)
def test_what_is_no_text_and_no_number_is_said_in_a_caveat(method, problem, words):
    facts, (caveat,) = facts_of_method(method, problem)
    assert facts == {}
    assert re.match(words.replace(" ", r" could not report its facts \(", 1), caveat)


def test_a_single_text_is_one_caveat():
    problem = SimpleNamespace(caveats="made-up data")
    assert facts_of_method(Odd("be careful"), problem) == ({}, ("made-up data", "be careful"))
    assert facts_of_answer(SimpleNamespace(caveats=lambda: "no step was long")) == ({}, ("no step was long",))


def test_an_answer_whose_facts_cannot_even_be_asked_for_leaves_the_trial_as_it_ended():
    _, (caveat,) = facts_of_answer(Raising())
    assert caveat.startswith("Raising could not report its facts (Mute")


def test_the_last_answer_may_tell_facts_too():
    answer = SimpleNamespace(facts=lambda: {"accepted": 0.25}, caveats=lambda: ["no step was long"])
    assert facts_of_answer(answer) == ({"accepted": 0.25}, ("no step was long",))


def test_a_trial_whose_records_are_untrue_says_so_by_its_ending():
    assert outcome_of(Untrue("the cost fell")).ending is Ending.UNTRUE
    assert outcome_of(BenchfwError("no such target")).ending is Ending.FAULT


def test_a_fault_that_benchfw_raises_for_a_method_is_placed_in_the_method():
    problem = OracleProblem(Oracles({"grad": abs, "value": abs}), None)

    def typo():
        return problem.gradient(1.0)

    line = typo.__code__.co_firstlineno + 1
    with pytest.raises(AttributeError) as raised:
        typo()
    said = "AttributeError: the problem has no attribute 'gradient'; did you mean 'grad'?"
    assert explain(raised.value) == f"{said} (test_endings.py, line {line})"
    assert not hasattr(problem, "prox")


def test_a_fault_that_a_library_raises_is_placed_where_the_author_called_it():
    def load():
        return np.load("nowhere.npz")

    line = load.__code__.co_firstlineno + 1
    with pytest.raises(FileNotFoundError) as raised:
        load()
    assert explain(raised.value).endswith(f"(test_endings.py, line {line})")


def test_a_missing_attribute_of_any_object_gets_the_nearest():
    with pytest.raises(AttributeError) as raised:
        Law().meen  # noqa: B018
    assert "has no attribute 'meen'; did you mean 'mean'? (" in explain(raised.value)


def test_a_fault_is_explained_in_one_line():
    assert explain(ValueError("a\n  b")) == "ValueError: a b"
    assert explain(BenchfwError()) == "BenchfwError"
