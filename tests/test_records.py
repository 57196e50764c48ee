"""The nouns of a run."""

import dataclasses
import json

import pytest

from benchfw.records import (
    MOST_CAVEATS,
    MOST_FACTS,
    Budget,
    Changes,
    Ending,
    Environment,
    Machine,
    Outcome,
    Project,
    Record,
    Run,
    Spec,
    Status,
    Trial,
)


def test_only_what_broke_is_a_fault():
    faulty = {status for status in Status if status.faulty}
    assert faulty == {Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED}


def test_a_run_counts_its_faults(tmp_path):
    counts = {"done": 5, "diverged": 2, "failed": 3, "timeout": 1, "skipped": 4}
    assert Run(1, "s", "t", tmp_path, "now", counts=counts).faults == 4


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
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.value = 2.0


def test_a_trials_cell_is_what_its_repetitions_share():
    trial = Trial("optimizer", Spec("bowl", label="a"), Spec("sgd", label="b"), "numpy", 3, 0, Budget())
    assert (
        trial.cell
        == dataclasses.replace(trial, repetition=4, seed=1).cell
        == ("a", "optimizer", "b", "numpy")
    )
    assert str(trial.cell) == "b on a (numpy)"


def test_an_environment_comes_back_from_json():
    environment = Environment(
        machine=Machine(processor="Example 3000", cores=8, load=0.5),
        project=Project("0" * 40, changed=False),
        changes=Changes("gd", ("numpy",), 3, quick=True),
        plugins=("mine.py",),
        backends={"cupy": {"unavailable": "no GPU"}},
    )
    assert Environment.from_json(json.loads(json.dumps(environment.to_json()))) == environment
    assert environment.absent_backends == {"cupy": "no GPU"}


@pytest.mark.parametrize(
    "change",
    [
        {"threads": "2"}, {"odd": 1}, {"plugins": None}, {"machine": {"cores": "8"}}, {"machine": []},
        {"changes": {"quick": 5}}, {"changes": {"odd": 1}}, {"changes": {"repetitions": -1}},
    ],
)  # fmt: skip
def test_an_environment_that_no_benchfw_wrote_is_refused(change):
    with pytest.raises(ValueError, match="does not say where and how"):
        Environment.from_json({**Environment().to_json(), **change})
    with pytest.raises(ValueError, match="does not say where and how"):
        Environment.from_json({})


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


def test_only_so_many_facts_and_caveats_are_kept_and_the_rest_is_counted():
    facts = {str(k): float(k) for k in range(10**4)}
    found = Outcome(Status.DONE, Ending.COST, facts=facts, caveats=tuple(map(str, range(10**4))))
    assert len(found.facts) == MOST_FACTS
    assert len(found.caveats) == MOST_CAVEATS
    assert found.caveats[0] == f"{10**4 - MOST_FACTS} more facts were left out"
    assert found.caveats[-1] == f"{10**4 + 1 - (MOST_CAVEATS - 1)} more caveats were left out"
    assert dataclasses.replace(found) == found
