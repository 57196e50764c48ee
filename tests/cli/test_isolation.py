"""Nothing that a trial does reaches another one, whatever it leaves behind."""

import json
import os
import shutil
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

from benchfw.harness.replays import choose_replays, find_difference
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial

PLUGINS = Path(__file__).parents[1] / "plugins"
SAID = ["errors", "warnings", "recursion", "patch", "process"]
KEPT = ["folder", "variable", "thread", "limit", "alarm", *SAID]

SUITE = """
plugins = ["messy.py"]
repetitions = {repetitions}
budget = {{ iterations = 1 }}
[[problem]]
use = "point"
"""


@pytest.fixture
def messy(cli):
    shutil.copy(PLUGINS / "messy.py", cli.folder)

    def run(tables, *words, repetitions=3):
        text = SUITE.format(repetitions=repetitions)
        cli.write("messy.toml", text + "".join(f"[[optimizer]]\n{table}\n" for table in tables))
        return cli("run", "messy.toml", "--no-report", *words)

    return run


def found(cli, method):
    """Return the last answers of a method, by repetition."""
    rows = [row for row in cli.records() if row["method"].startswith(method)]
    return [float(row["value"]) for row in rows if row["iteration"] == "1"]


LEAVE = 'use = "leave"\nwhat = {}'


@pytest.mark.workers
@pytest.mark.parametrize("isolation", ["trial", pytest.param("worker", marks=pytest.mark.thorough)])
def test_what_a_method_leaves_behind_is_not_found_by_the_next(messy, cli, isolation):
    left = KEPT if isolation == "trial" else SAID  # each ends a worker
    done = messy([LEAVE.format(json.dumps(left)), 'use = "look"'], "--isolation", isolation, repetitions=1)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(cli, "look") == [0]
    said = done.stdout + done.stderr
    for left in ("error state of NumPy", "warning filters", "recursion limit", "functions of numpy", "proc"):
        assert (f"left behind: {left}" in said) == (isolation == "worker"), said


@pytest.mark.workers
def test_each_repetition_starts_where_the_first_did_with_its_imports_done(messy, cli):
    assert messy(['use = "count"', 'use = "cached"', 'use = "lazy"']).returncode == 0
    assert found(cli, "count") == [1, 1, 1]  # no warm-up, no repetition before it
    assert found(cli, "cached") == [1, 1, 1]  # each pays for what it caches
    assert found(cli, "lazy") == [1, 1, 1]  # what it imports is imported before its clock runs


@pytest.mark.thorough
@pytest.mark.workers
def test_memory_of_processes_that_a_trial_starts_counts_too(messy):
    done = messy(['use = "spawn"'], "--memory", "300MB", "--timeout", "60", repetitions=1)
    assert done.returncode == 1
    assert "out-of-memory: spawn on point (numpy, repetition 0): it held more than 0.3 GB" in done.stderr


@pytest.mark.workers
def test_a_trial_has_its_threads_though_the_template_has_one(messy, cli):
    assert messy(['use = "threads"'], "--threads", "2", repetitions=2).returncode == 0
    assert found(cli, "threads") == [2, 2]


@pytest.mark.thorough
@pytest.mark.workers
def test_work_in_threads_while_metrics_are_taken_is_said(messy):
    said = " ".join(messy(['use = "beside"\nworks = [true, false]'], repetitions=1).stdout.split())
    assert "caveat: beside (works=true) on point: its threads worked for" in said
    assert "works=false) on point: its threads" not in said  # it waits, as a solver with callbacks does


@pytest.mark.workers
def test_seconds_that_did_not_pass_are_a_fault(messy):
    done = messy(['use = "forge"'], repetitions=1)
    assert done.returncode == 1
    assert "the trial reports 7.2e+03 seconds, and only" in done.stderr


THREADED = """
import threading, time
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""


@pytest.mark.thorough
@pytest.mark.workers
def test_a_library_that_starts_threads_gets_a_new_process_a_trial_and_is_named(messy, cli):
    cli.write("threaded.py", THREADED)
    cli.write("messy.py", "import threaded\n" + (PLUGINS / "messy.py").read_text())
    cli.write("threads.toml", SUITE.format(repetitions=3) + '[[optimizer]]\nuse = "count"\n')
    done = cli("run", "threads.toml", "--no-report", PYTHONPATH=str(cli.folder))
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert "threaded starts threads when it is imported: count on point (numpy) has a new process" in said
    assert found(cli, "count") == [1, 1, 1]


PATCHY = """
import os
import numpy as np
np.dot = lambda *_: 7.0
np.seterr(all="raise")
MODE = os.environ["MODE"]
"""


@pytest.mark.thorough
@pytest.mark.workers
def test_a_module_that_a_method_imports_is_its_own(messy, cli):
    cli.write("patchy.py", PATCHY)
    cli.write("patchy.toml", SUITE.format(repetitions=3) + '[[optimizer]]\nuse = ["patchy", "look"]\n')
    done = cli("run", "patchy.toml", "--no-report", PYTHONPATH=str(cli.folder))
    assert done.returncode == 0, done.stderr
    assert found(cli, "patchy") == [7, 7, 7]
    assert found(cli, "look") == [0, 0, 0]


@pytest.mark.workers
def test_programs_that_a_method_starts_have_the_users_import_path(messy, cli):
    starts = "sp.run([sys.executable, '-c', 'import mine'], stderr=sp.DEVNULL).returncode"
    plugin = (PLUGINS / "messy.py").read_text()
    plugin = plugin.replace(
        "COUNT[0] += 1\n        yield", f"os.environ.get('PYTHONPATH'); yield float({starts}); yield"
    )
    cli.write("messy.py", f"import subprocess as sp, sys\n{plugin}")
    cli.write("library/mine.py", "")
    cli.write("programs.toml", SUITE.format(repetitions=1) + '[[optimizer]]\nuse = "count"\n')
    own = os.environ.get("PYTHONPATH", "")
    cli("run", "programs.toml", "--no-report", PYTHONPATH=f"{cli.folder / 'library'}{os.pathsep}{own}")
    assert found(cli, "count") == [0]
    again = cli("run", "programs.toml", "--no-report", PYTHONPATH=own)
    assert "1 trial runs again: the environment variable PYTHONPATH has changed" in again.stderr
    assert found(cli, "count") == [1]


@pytest.mark.thorough
@pytest.mark.workers
def test_a_process_that_a_plugin_starts_at_import_lives_as_long_as_the_template(messy, cli):
    helper = "import subprocess as sp\nHELPER = sp.Popen(['cat'], stdin=sp.PIPE)\n"
    plugin = (
        (PLUGINS / "messy.py")
        .read_text()
        .replace("COUNT[0] += 1\n        yield", "yield HELPER.poll() or 3.0; yield")
    )
    cli.write("messy.py", helper + plugin)
    cli.write("helped.toml", SUITE.format(repetitions=3) + '[[optimizer]]\nuse = "count"\n')
    done = cli("run", "helped.toml", "--no-report")
    assert done.returncode == 0, done.stderr
    assert found(cli, "count") == [3, 3, 3]


@pytest.mark.workers
@pytest.mark.parametrize("calls", [0, 1])
def test_a_plugin_is_told_of_the_fork_of_a_trial_if_it_asks(messy, cli, calls):
    register = "os.register_at_fork(after_in_child=lambda: FORKS.append(os.getpid()))\n" * calls
    plugin = (PLUGINS / "messy.py").read_text()
    right = "threading.current_thread().native_id == threading.get_native_id() == os.getpid()"
    plugin = plugin.replace("COUNT[0] += 1\n        yield", f"yield len(FORKS) + 10.0 * ({right}); yield")
    cli.write("messy.py", f"import os, threading\nFORKS = []\n{register}{plugin}")
    cli.write("told.toml", SUITE.format(repetitions=2) + '[[optimizer]]\nuse = "count"\n')
    done = cli("run", "told.toml", "--no-report", "--no-replay")
    assert done.returncode == 0, done.stderr
    assert found(cli, "count") == [10.0 + calls] * 2


@pytest.mark.workers
def test_a_suite_says_what_its_trials_have_to_themselves(messy, cli):
    assert messy(['use = "count"'], "--isolation", "worker").returncode == 0
    assert "isolation by worker" in cli("report", "--format", "md").stdout
    assert "3 to run" in messy(['use = "count"'], "--dry-run").stdout  # not served for trials alone
    text = (cli.folder / "messy.toml").read_text()
    cli.write("messy.toml", f'isolation = "worker"\n{text}')
    assert "nothing was run" in cli("run", "messy.toml", "--no-report").stdout
    cli.write("messy.toml", f'isolation = "thread"\n{text}')
    assert cli("run", "messy.toml", "--jobs", "0", "--isolation", "trial").returncode == 2
    refused = cli("run", "messy.toml")
    assert refused.returncode == 2
    assert 'isolation must be "trial" or "worker", got \'thread\'' in refused.stderr


@pytest.mark.thorough
@pytest.mark.workers
def test_a_method_that_draws_from_outside_is_said_not_to_be_reproducible(messy, cli):
    moods = ["entropy", "set", "seed"]
    done = messy([f'use = "moody"\nsource = "{mood}"' for mood in moods], "--replay")
    assert done.returncode == 0, done.stderr
    assert "trials a second time, to see whether they repeat" in done.stderr
    said = " ".join(done.stdout.split())
    for mood in ("entropy", "set"):
        assert (
            f"caveat: moody (source={mood}) on point (numpy) is not reproducible from its seed: found" in said
        )
    assert "source=seed) on point (numpy) is not" not in said
    again = cli("run", "messy.toml", "--no-report", "--replay")
    assert "nothing was run" in again.stdout
    assert "second time" not in again.stderr  # it is known by now
    assert "is not reproducible" in again.stdout


def test_the_first_difference_on_common_looks_is_found():
    outcome = Outcome(
        Status.DONE, Ending.SECONDS, records=tuple(Record("gap", i, 0.1, i, 1 / (i + 1)) for i in range(5))
    )
    shorter = replace(outcome, records=outcome.records[:3])
    assert find_difference(outcome, shorter) == ""  # its time was up
    ended = replace(outcome, ending=Ending.BY_ITSELF), replace(shorter, ending=Ending.BY_ITSELF)
    assert find_difference(*ended) == "it ended as done at iteration 4, and then as done at iteration 2"
    other = replace(outcome, records=(*outcome.records[:2], Record("gap", 2, 0.2, 2, 0.25)))
    assert (
        find_difference(outcome, other)
        == "gap at iteration 2 was 0.333333333 at cost 2, and then 0.25 at cost 2"
    )
    rounded = replace(outcome, records=(Record("gap", 2, 0.2, 2, 1 / 3 * (1 + 1e-9)),))
    assert find_difference(outcome, rounded)
    assert not find_difference(outcome, rounded, tolerance=1e-6)


def test_one_trial_in_twenty_is_replayed_and_one_of_every_method():
    spec = [Spec(name, label=name) for name in "pab"]
    trials = [
        Trial(
            "optimizer",
            spec[0],
            method,
            "numpy",
            number,
            0,
            Budget(),
            key=blake2b(f"{method.use}{number}".encode()).hexdigest(),
        )
        for method in spec[1:]
        for number in range(400)
    ]
    chosen = choose_replays(trials)
    assert 20 < len(chosen) < 70  # 40 expected, with a standard deviation of 6
    first = min(range(3), key=lambda place: trials[place].key)
    assert first in choose_replays(trials[:3])
    assert choose_replays([replace(trial, kind="kernel") for trial in trials]) == []
