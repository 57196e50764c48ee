"""The trials of a suite are made one by one, and stand where their labels and repetition say."""

import pytest

from benchfw.records import Spec
from benchfw.trials import Chosen, Trials


@pytest.fixture
def trials(make_trial):
    """Return three repetitions of two methods, with keys that name them."""
    firsts = [make_trial(method=Spec(name, {}, name)) for name in ("a", "b")]
    return Trials(firsts, 3).keyed(
        lambda first: (first, lambda repetition: f"{first.method.label}{repetition}")
    )


def test_repetitions_come_cell_by_cell_each_with_its_key(trials):
    assert [trial.key for trial in trials] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert [trial.repetition for trial in trials] == [0, 1, 2] * 2
    assert [trials.key(position) for position in range(6)] == [trial.key for trial in trials]
    assert (len(trials), trials[-1].key) == (6, "b2")
    with pytest.raises(IndexError):
        trials[6]


def test_a_trial_stands_where_its_labels_and_repetition_say(trials):
    assert [trials.position(trial) for trial in trials] == list(range(6))


def test_some_are_chosen_by_position_in_any_order(trials):
    assert [trial.key for trial in Chosen(trials, [5, 0, 2])] == ["b2", "a0", "a2"]
    assert [trial.key for trial in trials[1:5][::2]] == ["a1", "b0"]
