"""What problems and methods say of themselves travels with the trial."""

from dataclasses import dataclass, field
from types import SimpleNamespace

from benchfw.measure.endings import told, told_by_answer
from benchfw.records import Outcome, Status


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
    records, _ = told(Outer(), PROBLEM, "")
    assert {record.metric: record.value for record in records} == {"fact:degree": 3.0, "fact:mean": 5.0}


def test_caveats_of_problem_and_method_stand_behind_the_reason_and_come_back_from_it():
    _, reason = told(Outer(), PROBLEM, "budget of 10 iterations")
    assert Outcome(Status.DONE, reason).caveats == ("made-up data", "a mean of 5 is little on toy")
    assert reason.startswith("budget of 10 iterations; ")


def test_who_has_nothing_to_say_adds_nothing():
    assert told(object(), object(), "the end") == ([], "the end")


def test_a_fault_while_telling_leaves_the_trial_as_it_ended():
    records, reason = told(Law(), SimpleNamespace(), "the end")  # without a name, its caveat cannot be told
    assert [record.metric for record in records] == ["fact:mean"]
    assert Outcome(Status.DONE, reason).caveats[0].startswith("Law could not tell its facts (AttributeError")


def test_the_last_answer_may_tell_facts_too():
    answer = SimpleNamespace(facts=lambda: {"accepted": 0.25}, caveats=lambda: ["no step was long"])
    records, reason = told_by_answer(answer, "the end")
    assert [(record.metric, record.value) for record in records] == [("fact:accepted", 0.25)]
    assert Outcome(Status.DONE, reason).caveats == ("no step was long",)
