"""A run is going while its process lives, and no longer."""

import signal
import subprocess
import sys

from benchfw.records import Run
from benchfw.store import Store
from benchfw.store.going import going, is_going


def test_a_run_is_going_until_its_context_ends_and_leaves_nothing_behind(tmp_path):
    store = tmp_path / "store.sqlite"
    assert not is_going(store, 3)
    with going(store, 3):
        assert is_going(store, 3)
        assert not is_going(store, 4)
    assert not is_going(store, 3)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_is_not_going(tmp_path):
    store = tmp_path / "store.sqlite"
    code = (
        "import sys, time; from pathlib import Path; from benchfw.store.going import going\n"
        "with going(Path(sys.argv[1]), 3): print('here', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code, store], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert is_going(store, 3)
        process.send_signal(signal.SIGKILL)
    assert not is_going(store, 3)


def test_a_folder_that_cannot_be_written_does_not_stop_a_run(tmp_path):
    with going(tmp_path / "nowhere" / "store.sqlite", 3):
        pass


def test_the_store_tells_a_going_run_from_a_stopped_and_a_finished_one(tmp_path):
    with Store(tmp_path / "store.sqlite", create=True) as store:
        number = store.begin("mine", "Mine", "", {"trials": 40})
        with going(store.path, number):
            assert store.run(number).standing == "run 1 is still going: 0 of 40 trials"
        assert store.run(number).standing == (
            "run 1 was stopped: 0 of 40 trials; the same command goes on from there"
        )
        store.finish(number)
        assert store.run(number).standing == ""


def test_a_run_that_did_not_note_how_many_trials_it_has_still_gives_a_sentence(tmp_path):
    run = Run(2, "mine", "Mine", tmp_path, "then", going=True, counts={"done": 3})
    assert run.standing == "run 2 is still going: 3 trials"
