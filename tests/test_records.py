"""The nouns of a trial."""

import dataclasses

import pytest

from benchfw.records import MOST_CAVEATS, MOST_FACTS, Budget, Ending, Outcome, Record, Spec, Status, Trial


def test_only_what_broke_is_a_fault():
    faulty = {status for status in Status if status.faulty}
    assert faulty == {Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED}


def test_a_label_is_no_part_of_what_identifies_a_spec():
    assert Spec("sgd", {"step": 1}, "mine").table == Spec("sgd", {"step": 1}, "yours").table
    assert Spec("sgd", {"step": 1}).table == {"use": "sgd", "step": 1}


def test_a_trial_reads_as_a_sentence():
    trial = Trial(
        "optimizer", Spec("bowl", label="a bowl"), Spec("sgd", label="SGD"), "numpy", 3, 0, Budget()
    )
    assert str(trial) == "SGD on a bowl (numpy, repetition 3)"


def test_records_cannot_be_changed():
    record = Record("gap", 0, 0.0, 0.0, 1.0)
    with pytest.raises(AttributeError):
        record.value = 2.0


def test_a_trials_cell_is_what_its_repetitions_share():
    trial = Trial("optimizer", Spec("bowl", label="a"), Spec("sgd", label="b"), "numpy", 3, 0, Budget())
    assert (
        trial.cell
        == dataclasses.replace(trial, repetition=4, seed=1).cell
        == ("a", "optimizer", "b", "numpy")
    )
    assert str(trial.cell) == "b on a (numpy)"


def test_texts_of_an_outcome_are_cut_and_names_stay_different():
    long = "x" * 10**6
    records = tuple(Record(f"{long}{k}", 0, 0.0, 0.0, 1.0) for k in range(2))
    facts = {f"{long}{k}": float(k) for k in range(2)}
    found = Outcome(
        Status.FAILED, Ending.FAULT, long, records, facts, (long,), cost_unit=long, device=long
    )  # fmt: skip
    assert len(repr(found)) < 10_000
    assert found.reason == "x" * 999 + "…"
    assert len({each.metric for each in found.records}) == len(found.facts) == 2
    assert dataclasses.replace(found) == found
    assert len({Spec("a", label=f"{long}{k}").label for k in range(2)}) == 2


def test_an_outcome_at_a_prompt_shows_how_it_ended_and_not_all_of_its_records():
    records = [Record("gap", number, 1.0, 1.0, 0.5) for number in range(1000)]
    shown = repr(Outcome(Status.DONE, Ending.ITERATIONS, "budget of 999 iterations", tuple(records)))
    assert "budget of 999 iterations" in shown
    assert len(shown) < 500


def test_only_so_many_facts_and_caveats_are_kept_and_the_rest_is_counted():
    facts = {str(k): float(k) for k in range(10**4)}
    found = Outcome(Status.DONE, Ending.COST, facts=facts, caveats=tuple(map(str, range(10**4))))
    assert len(found.facts) == MOST_FACTS
    assert len(found.caveats) == MOST_CAVEATS
    assert found.caveats[0] == f"{10**4 - MOST_FACTS} more facts were left out"
    assert found.caveats[-1] == f"{10**4 + 1 - (MOST_CAVEATS - 1)} more caveats were left out"
    assert dataclasses.replace(found) == found
