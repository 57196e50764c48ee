"""The nouns of a run."""

import dataclasses

import pytest

from benchfw.records import Budget, Record, Run, Spec, Status, Trial


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
