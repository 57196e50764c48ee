"""A package of a stranger adds an exporter and an executor: by two hooks, with nothing of benchfw changed."""

import numpy as np
import pytest

import benchfw

METADATA = "Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n"
MODULE = '''
from dataclasses import replace

from benchfw import hookimpl
from benchfw.harness.environment import gather
from benchfw.harness.events import Finished
from benchfw.harness.executors import start_workers


class Ends:
    """How each trial ended."""

    ending = ".txt"

    def export(self, run, summary, results, destination):
        return "".join(f"{each.trial.method.label}: {each.outcome.status.value}\\n" for each in results)


class Folder(Ends):
    """The same, a file in a folder."""

    ending = "/"

    def export(self, run, summary, results, destination):
        destination.mkdir()
        (destination / "ends.txt").write_text(super().export(run, summary, results, destination))
        return f"{destination}: {len(summary.comparisons)} problems"


class Broken:
    """Raises."""

    ending = ".txt"

    def export(self, run, summary, results, destination):
        return 1 / 0


class Machines:
    """Workers elsewhere; these are here."""

    def __init__(self, address, options, note):
        self.capacity, self.note = int(address), note

    def __enter__(self):
        self.note(f"connected to {self.capacity}")

    def __exit__(self, *fault):
        self.note("disconnected")

    def preview(self, trials):
        return f"a script for {trials} trials" if self.capacity > 8 else ""

    def inspect(self, trials, terms):
        return replace(gather(terms.backends, terms.threads), cluster={"stranger": "two hired hands"})

    def start(self, terms):
        return Counting(start_workers(terms, self.capacity))


class Counting:
    def __init__(self, workers):
        self.workers, self.close = workers, workers.close

    def run(self, trials):
        for event in self.workers.run(trials):
            if isinstance(event, Finished):
                with open("ended", "a") as file:
                    file.write("x")
            yield event


@hookimpl
def register_exporters(register):
    register("ends", Ends)
    register("ends-folder", "stranger:Folder")
    register("broken", Broken)


@hookimpl
def register_executors(register):
    register("mine", Machines)
'''


@pytest.fixture
def stranger(cli, tmp_path_factory, monkeypatch):
    """The command line, where a package of a stranger is installed."""
    folder = tmp_path_factory.mktemp("installed")
    about = folder / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text("[benchfw]\nstranger = stranger\n")
    (folder / "stranger.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    return cli


@pytest.fixture
def ran(stranger):
    assert stranger("run", "bowls.toml", "--only", "slide", "--no-report").returncode == 0
    return stranger


def test_what_a_stranger_adds_is_listed_beside_ours(stranger):
    for kind, names in {"exporters": {"ends", "ends-folder", "broken"}, "executors": {"mine"}}.items():
        rows = stranger("list", kind).stdout.splitlines()
        assert {row.split()[0] for row in rows if "stranger 1.0" in row} == names


def test_an_exporter_writes_a_file_or_standard_output(ran):
    printed = ran("export", "--format", "ends")
    assert printed.stdout.splitlines() == 2 * ["slide (step=0.5): done"] + 2 * ["slide (step=0.1): done"]
    assert ran("export", "--format", "ends", "--output", "here.txt").stdout == ""
    assert (ran.folder / "here.txt").read_text() == printed.stdout


def test_an_exporter_writes_a_folder_and_says_so(ran):
    assert ran("export", "--format", "ends-folder", "-o", "results").stdout == "results: 1 problems\n"
    assert (ran.folder / "results" / "ends.txt").read_text() == ran("export", "--format", "ends").stdout


def test_an_exporter_that_raises_is_one_sentence(ran):
    done = ran("export", "--format", "broken")
    assert (done.returncode, done.stdout) == (2, "")
    fault = "the exporter 'broken' of stranger 1.0 raised ZeroDivisionError: division by zero"
    assert done.stderr == f"benchfw: {fault}\n"


@pytest.mark.workers
def test_an_executor_runs_every_trial_with_the_records_of_this_machine(stranger):
    done = stranger("run", "bowls.toml", "--executor", "mine:2", "--replay")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "connected" in line]
    assert told == ["benchfw: connected to 2", "benchfw: disconnected"]
    trials, methods = 8, 4
    assert len((stranger.folder / "ended").read_text()) >= trials + methods  # of each, one runs twice
    assert "two hired hands" in (stranger.folder / "reports" / "run-1" / "index.html").read_text()
    stranger("run", "bowls.toml", "--no-report", "--jobs", "0", "--store", "here.sqlite")
    assert stranger.timeless() == stranger.timeless(store="here.sqlite")


@pytest.mark.workers
def test_objects_of_a_session_go_where_an_executor_runs_trials(stranger, monkeypatch, capsys):
    monkeypatch.chdir(stranger.folder)

    def slide(problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.5 * problem.grad(x)

    bowl = benchfw.problem(lambda x: float(x @ x) / 2, lambda x: x, np.ones(2))
    done = benchfw.compare(
        bowl, {"slide": slide}, repetitions=2, budget={"iterations": 3}, replay=False, executor="mine:1"
    )
    assert done.counts == {"done": 2}
    assert "connected to 1" in capsys.readouterr().err


def test_a_dry_run_connects_to_see_what_is_stored_or_shows_what_it_would_do(stranger):
    connected = stranger("run", "bowls.toml", "--dry-run", "--executor", "mine:1")
    assert "connected to 1" in connected.stderr
    assert "8 to run; nothing was run" in connected.stdout
    shown = stranger("run", "bowls.toml", "--dry-run", "--executor", "mine:9")
    assert (shown.stdout, shown.stderr) == ("a script for 8 trials\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--executor", "mien"), "unknown executor 'mien'; did you mean 'mine'?"),
        (
            ("--executor", "mine:few"),
            "the executor 'mine' of stranger 1.0 raised ValueError: invalid literal",
        ),
        (
            ("--executor", "mine:2", "--jobs", "0"),
            "--jobs 0 runs trials in this process, --executor elsewhere",
        ),
        (
            ("--executor", "mine:2", "--keep", "x"),
            "files are kept on this machine, and --executor runs trials",
        ),
        (
            ("--executor", "mine:2", "--dask", "local"),
            "--executor, --dask and --slurm all say where trials run",
        ),
    ],
)
def test_an_executor_that_cannot_be_used_is_one_sentence(stranger, words, sentence):
    done = stranger("run", "bowls.toml", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"benchfw: {sentence}")
    assert len(done.stderr.splitlines()) == 1
