"""Full disks, read-only folders, damaged stores, two runs at once: one clear line, and nothing is lost."""

import contextlib
import ctypes
import os
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

NAPPING = """
seed = 3
repetitions = 6
plugins = ["bowls.py"]
budget = { iterations = 20 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
nap = 0.005
step = [0.1, 0.2]
"""


def one_clear_line(done, *parts):
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("benchfw: ")]
    assert len(told) == 1, done.stderr
    for part in parts:
        assert part in told[0]


def started(cli, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "benchfw", *words],
        cwd=cli.folder,
        env=cli.environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def trials_in(cli, store="reports/benchfw.sqlite"):
    base = sqlite3.connect(cli.folder / store)
    keys = Counter(key for (key,) in base.execute("SELECT key FROM trial WHERE status = 'done'"))
    base.close()
    return keys


def test_two_runs_on_one_store_at_once_both_complete_and_run_no_trial_twice(cli):
    cli.write("naps.toml", NAPPING)
    runs = [started(cli, "run", "naps.toml", "--no-report") for _ in range(2)]
    told = [process.communicate(timeout=120)[1] for process in runs]
    assert [process.returncode for process in runs] == [0, 0], told
    assert set(trials_in(cli).values()) == {1}
    assert cli.timeless("1") == cli.timeless("2")
    assert len(cli.timeless("2")) == 12 * 21
    assert [path.name for path in (cli.folder / "reports").iterdir()] == ["benchfw.sqlite"]


@pytest.mark.thorough
def test_what_a_killed_run_had_claimed_is_run_by_the_one_that_waits_for_it(cli):
    cli.write("naps.toml", NAPPING)
    first = started(cli, "run", "naps.toml", "--no-report", "--events", "events")
    wait_for(lambda: '"finished"' in (cli.folder / "events").read_text(), cli.folder / "events")
    second = started(cli, "run", "naps.toml", "--no-report")
    first.kill()
    first.communicate()
    told = second.communicate(timeout=120)[1]
    assert second.returncode == 0, told
    assert set(trials_in(cli).values()) == {1}
    assert sum(cli.last_run()["counts"].values()) == 12


@pytest.mark.thorough
def test_a_killed_store_goes_on_elsewhere_with_its_journal_and_a_stopped_one_alone(cli):
    cli.write("naps.toml", NAPPING)
    events, reports, elsewhere = (cli.folder / name for name in ("events", "reports", "elsewhere"))
    elsewhere.mkdir()
    for stop, left in (
        (signal.SIGKILL, {"benchfw.sqlite", "benchfw.sqlite-wal"}),
        (signal.SIGTERM, {"benchfw.sqlite"}),
    ):
        run = started(cli, "run", "naps.toml", "--no-report", "--events", "events", "--fresh")
        wait_for(lambda: '"finished"' in events.read_text(), events)
        run.send_signal(stop)
        run.communicate()
        files = {path.name for path in reports.iterdir()}
        assert left <= files if stop == signal.SIGKILL else files == left
        for name in left:
            shutil.copy(reports / name, elsewhere / name)
        assert sum(trials_in(cli, "elsewhere/benchfw.sqlite").values()) >= 1
        for path in (*reports.iterdir(), *elsewhere.iterdir(), events):
            path.unlink()


def wait_for(condition, path):
    deadline = time.monotonic() + 60
    while not (path.exists() and condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.thorough
def test_a_full_disk_is_one_clear_line_and_what_was_finished_is_kept(cli):
    cli.write(
        "many.toml", NAPPING.replace("repetitions = 6", "repetitions = 60").replace("nap = 0.005\n", "")
    )

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    process = started(cli, "run", "many.toml", "--no-report", preexec_fn=small_disk)
    one_clear_line(completed(process), "benchfw.sqlite", "free some space")
    kept = trials_in(cli)
    assert 0 < len(kept) < 120
    assert cli("store", "check").returncode == 0
    again = cli.in_process("run", "many.toml", "--no-report")  # trials of workers have keys of their own
    assert again.returncode == 0, again.stderr
    assert cli.last_run()["reused"] == len(kept)
    assert set(trials_in(cli).values()) == {1}


def completed(process):
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def without_powers():
    """Let even root be refused what a folder's mode refuses: CAP_DAC_OVERRIDE is dropped for what follows."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="root loses its powers by a call of Linux")
def test_a_folder_that_cannot_be_written_is_one_clear_line(cli):
    (cli.folder / "locked").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    words = ("run", "bowls.toml", "--no-report", "--store", "locked/benchfw.sqlite")
    process = started(cli, *words, preexec_fn=without_powers)
    one_clear_line(completed(process), "locked/benchfw.sqlite", "--store")
    assert not list((cli.folder / "locked").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="root loses its powers by a call of Linux")
def test_a_bundle_is_made_of_a_store_that_cannot_be_written(cli):
    assert cli("run", "bowls.toml", "--no-report", "--store", "locked/benchfw.sqlite").returncode == 0
    (cli.folder / "locked" / "benchfw.sqlite").chmod(stat.S_IRUSR)
    (cli.folder / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
    words = ("export", "--store", "locked/benchfw.sqlite", "--bundle", "out.zip")
    done = completed(started(cli, *words, preexec_fn=without_powers))
    assert done.returncode == 0, done.stderr
    shown = cli("report", "out.zip", "--format", "md")
    assert (shown.returncode, "slide" in shown.stdout) == (0, True)


@pytest.mark.skipif(sys.platform != "linux", reason="root loses its powers by a call of Linux")
def test_a_bundle_of_a_store_that_cannot_be_written_has_what_another_process_just_wrote(cli):
    words = ("run", "bowls.toml", "--no-report", "--only", "step=0.5", "--store", "locked/benchfw.sqlite")
    assert cli(*words).returncode == 0
    store = cli.folder / "locked/benchfw.sqlite"
    with contextlib.closing(sqlite3.connect(store)) as other:
        other.execute("SELECT COUNT(*) FROM run").fetchone()  # it holds the journal open
        assert cli(*words, "--fresh", "--repetitions", "3").returncode == 0
        for each in store.parent.iterdir():
            each.chmod(stat.S_IRUSR)
        store.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
        bundled = ("export", "last", "--store", "locked/benchfw.sqlite", "--bundle", "out.zip")
        done = completed(started(cli, *bundled, preexec_fn=without_powers))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("bundle: out.zip (3 trials")


def test_how_much_is_lost_of_a_store_that_was_cut_off_is_not_known(cli):
    assert cli("run", "bowls.toml", "--no-report").returncode == 0
    path = cli.folder / "reports" / "benchfw.sqlite"
    path.write_bytes(path.read_bytes()[: 5 * 4096])
    done = cli("store", "check")
    assert done.returncode == 1
    assert "how much is lost is not known" in done.stdout or "at least" in done.stdout


def test_a_damaged_store_is_named_by_every_verb_and_its_copy_is_sound(cli):
    cli("run", "bowls.toml", "--no-report")
    base = sqlite3.connect(cli.folder / "reports/benchfw.sqlite")
    with base:
        base.execute("UPDATE record SET value = 5.0 WHERE trial = 3 AND number = 1")
    base.close()
    for verb in (["report"], ["export"], ["replay", "3"], ["run", "bowls.toml"], ["compare", "1", "1"]):
        one_clear_line(
            cli(*verb), "reports/benchfw.sqlite: trial 3 does not match its checksum", "store check --copy"
        )
    found = cli("store", "check")
    assert found.returncode == 1
    assert "trial 3 does not match its checksum" in found.stderr
    assert "7 trials can be read, at least 1 trial is lost" in found.stdout
    done = cli("store", "check", "--copy", "saved.sqlite")
    assert done.returncode == 1, done.stderr
    assert "copied 2 runs with 7 trials to saved.sqlite" in done.stdout
    (cli.folder / "saved.sqlite").replace(cli.folder / "reports/benchfw.sqlite")
    cli("run", "bowls.toml", "--no-report")
    assert cli.last_run()["reused"] == 7
    assert "is sound" in cli("store", "check").stdout


@pytest.mark.parametrize("verb", [["runs"], ["report"], ["export"], ["replay", "1"], ["run", "bowls.toml"]])
def test_a_store_that_was_cut_short_is_named_by_every_verb(cli, verb):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    path = cli.folder / "reports/benchfw.sqlite"
    path.write_bytes(path.read_bytes()[:20_000])
    one_clear_line(cli(*verb), "reports/benchfw.sqlite", "it is damaged; `benchfw store check --copy")


@pytest.mark.thorough
def test_a_second_interruption_leaves_at_once(cli):
    cli.write("long.toml", NAPPING.replace("nap = 0.005", "nap = 0.05"))
    process = started(cli, "run", "long.toml", "--events", "events")
    events = cli.folder / "events"
    wait_for(lambda: '"finished"' in events.read_text(), events)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in told


TAKER = """
from pathlib import Path
from benchfw import hookimpl

@hookimpl
def trial_finished(trial, status):
    for each in Path("reports").glob("benchfw.sqlite*"):
        if "-run-" not in each.name:
            each.unlink()
"""


def test_a_run_whose_store_is_deleted_ends_with_an_error_and_its_results_are_saved(cli):
    cli.write("taker.py", TAKER)
    words = ("run", "bowls.toml", "--plugin", "taker.py", "--jobs", "0", "--no-report")
    one_clear_line(cli(*words), "reports/benchfw.sqlite was deleted", "continues from there")
    (rescued,) = (cli.folder / "reports").glob("*.rescued-*")
    assert cli("store", "check", "--store", str(rescued)).returncode == 0
    assert len(trials_in(cli, rescued)) >= 2


def test_a_store_whose_name_is_no_text_is_one_like_any_other(cli):
    store = ("--store", "caf\udce9.sqlite")
    for words in (("run", "bowls.toml"), ("report", "--single-file"), ("export", "--bundle", "bundle.zip")):
        done = cli(*words, *store)
        assert done.returncode == 0, done.stderr
    assert (cli.folder / "caf\udce9-run-1" / "index.html").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file that is always full is a thing of Linux")
@pytest.mark.parametrize("words", [("runs",), ("export", "last"), ("export", "last", "--summary")])
def test_output_that_cannot_be_written_is_one_clear_line(cli, words):
    assert cli("run", "bowls.toml", "--no-report").returncode == 0
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "benchfw", *words], cwd=cli.folder, env=cli.environment, check=False,
            stdout=full, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert re.fullmatch(r"benchfw: standard output cannot be written \(.*No space left.*\n", done.stderr)
