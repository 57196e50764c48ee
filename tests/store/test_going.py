"""A run is going while its process lives, and no longer."""

from benchfw.records import Environment
from benchfw.store import Store


def test_the_store_tells_a_going_run_from_a_stopped_and_a_finished_one(tmp_path):
    with Store(tmp_path / "store.sqlite", create=True) as store:
        number = store.begin("mine", "Mine", "", Environment(trials=40))
        with store.hold_run_lock(number):
            assert store.run(number).standing == "run 1 is still going: 0 of 40 trials"
        assert store.run(number).standing == (
            "run 1 was stopped: 0 of 40 trials; the same command goes on from there"
        )
        store.finish(number)
        assert store.run(number).standing == ""
