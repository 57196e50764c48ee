"""A run is going while its process lives, and no longer."""

from benchfw.records import Run
from benchfw.store import Store


def test_the_store_tells_a_going_run_from_a_stopped_and_a_finished_one(tmp_path):
    with Store(tmp_path / "store.sqlite", create=True) as store:
        number = store.begin("mine", "Mine", "", {"trials": 40})
        with store.living(number):
            assert store.run(number).standing == "run 1 is still going: 0 of 40 trials"
        assert store.run(number).standing == (
            "run 1 was stopped: 0 of 40 trials; the same command goes on from there"
        )
        store.finish(number)
        assert store.run(number).standing == ""


def test_a_run_that_did_not_note_how_many_trials_it_has_still_gives_a_sentence(tmp_path):
    run = Run(2, "mine", "Mine", tmp_path, "then", going=True, counts={"done": 3})
    assert run.standing == "run 2 is still going: 3 trials"
