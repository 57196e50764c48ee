"""What a local executor tells its workers."""

import mmap
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchfw import system
from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.harness.events import Finished, Waiting
from benchfw.harness.workers import executor, process, surroundings
from benchfw.measure.seeding import data_seed
from benchfw.records import Budget, Spec, Status


@pytest.fixture
def outcome_of(toys, make_trial):
    def run(**options):
        workers = executor.LocalExecutor((str(toys),), **options)
        try:
            return next(each.outcome for each in workers.run([make_trial()]) if isinstance(each, Finished))
        finally:
            workers.close()

    return run


def test_peak_memory_is_known_only_where_it_is_asked_for(outcome_of):
    assert 1e6 < outcome_of(resources=True).peak_memory < 1e9
    assert outcome_of().peak_memory is None


def test_a_worker_of_a_revision_that_speaks_otherwise_is_refused(outcome_of, monkeypatch):
    monkeypatch.setattr(process, "PROTOCOL", 99)
    with pytest.raises(BenchfwError, match="workers of the other revision do not understand this one"):
        outcome_of()


def test_a_worker_that_takes_too_long_to_start_is_said_to_import_too_much(outcome_of, monkeypatch):
    monkeypatch.setattr(executor, "START_SECONDS", 0.01)
    why = r"a worker process could not start: it was not ready after 0.01 s, what it imports takes too long"
    with pytest.raises(BenchfwError, match=why):
        outcome_of()


COUNTING = """
import os
import signal
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from benchfw import CountedProblem, Problem, hookimpl

COUNT = Path({count!r})

def is_file(descriptor):
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False

class Nothing(CountedProblem):
    def __init__(self, backend, rng):
        self.backend = backend
        self.number = float(rng.random((1,))[0])
    def metrics(self, answer):
        return {{"answer": answer}}

@dataclass(frozen=True)
class Trouble:
    solves = Problem
    def run(self, problem, rng):
        yield problem.number
        with COUNT.open("a") as file:
            file.write("x")
        if COUNT.stat().st_size == {at}:
            {trouble}
        yield problem.number

@hookimpl
def register_problems(register):
    register("nothing", Nothing)

@hookimpl
def register_optimizers(register):
    register("trouble", Trouble)
"""


@pytest.fixture
def trial(make_trial):
    return make_trial(problem=Spec("nothing"), method=Spec("trouble"), budget=Budget(iterations=1))


@pytest.fixture
def run_many(plugin_file, tmp_path, trial, monkeypatch):
    """Run 40 short trials, the twentieth of which makes trouble; say how many were handed out at once."""

    def run(trouble, at=20, **options):
        count, sizes, notes = tmp_path / "count", [], []
        source = plugin_file(COUNTING.format(trouble=trouble, count=str(count), at=at), "counting.py")
        monkeypatch.setattr(executor, "TOGETHER_SECONDS", 60.0)  # however slow the machine is
        begin = process.WorkerProcess.begin
        monkeypatch.setattr(
            process.WorkerProcess, "begin", lambda self, each: (sizes.append(len(each)), begin(self, each))
        )
        workers = executor.LocalExecutor((str(source),), note=notes.append, **options)
        trials = [replace(trial, repetition=each, key=f"{each:032x}") for each in range(40)]
        try:
            events = [each for each in workers.run(trials) if not isinstance(each, Waiting)]
        finally:
            workers.close()
        finished = {each.trial.repetition: each.outcome for each in events if isinstance(each, Finished)}
        assert sorted(finished) == list(range(40))
        assert len(events) == 80
        return finished, sizes, notes

    return run


@pytest.mark.parametrize("isolation", ["trial", "worker"])
def test_short_trials_are_handed_out_together_and_measure_the_same(run_many, trial, isolation, tmp_path):
    finished, sizes, _ = run_many("pass", isolation=isolation)
    assert max(sizes) > 30
    assert sum(sizes) == 40
    seeds = [data_seed(replace(trial, repetition=each)) for each in range(40)]
    numbers = [get_backend("numpy").rng(seed).random((1,))[0] for seed in seeds]
    assert [finished[each].records[-1].value for each in range(40)] == numbers
    warm_ups = {"trial": 0, "worker": 1}
    assert (tmp_path / "count").stat().st_size == 40 + warm_ups[isolation]


@pytest.mark.parametrize("isolation", ["trial", "worker"])
def test_a_crash_is_its_own_trials_and_those_after_it_run_elsewhere(run_many, isolation):
    finished, sizes, _ = run_many("os.kill(os.getpid(), signal.SIGKILL)", isolation=isolation)
    assert max(sizes) > 30
    lost = [each for each in finished.values() if each.status is not Status.DONE]
    assert [each.status for each in lost] == [Status.CRASHED]
    assert "was killed by SIGKILL" in lost[0].reason
    assert [each.iteration for each in lost[0].records] == [0]  # what it had measured


def test_a_trial_that_hangs_among_others_is_the_one_that_is_stopped(run_many):
    finished, _, _ = run_many("time.sleep(60)", timeout=2.0)
    assert [each.status for each in finished.values() if each.status is not Status.DONE] == [Status.TIMEOUT]


def test_a_long_trial_among_short_ones_may_have_begun_before_the_parent_looked(run_many, monkeypatch):
    monkeypatch.setattr(executor, "HEARTBEAT_SECONDS", 0.14)
    finished, _, _ = run_many("time.sleep(0.15)", isolation="worker")
    assert {each.reason for each in finished.values()} == {"budget of 1 iterations"}


def test_a_trial_that_leaves_something_behind_is_the_last_of_its_worker(run_many):
    finished, _, (note,) = run_many("os.chdir('/')", isolation="worker")
    assert {each.status for each in finished.values()} == {Status.DONE}
    assert "left behind: working directory; the next trial has a new process" in note


def test_the_warning_filters_of_a_library_that_is_imported_in_a_rehearsal_are_nobodys_fault(run_many):
    imported = "import sys, warnings\n            sys.modules['new'] = sys\n            "
    own = f"{imported}warnings.simplefilter('ignore', type('Own', (Warning,), dict(__module__='new')))"
    _, _, notes = run_many(own, at=1, isolation="worker")
    assert notes == []
    for trouble, at in ((own, 60), (f"{imported}warnings.simplefilter('error')", 84)):  # 41, 83 were before
        _, _, (note,) = run_many(trouble, at=at, isolation="worker")
        assert "left behind: warning filters" in note


def test_trials_one_of_which_replaces_a_function_run_again_one_by_one(run_many, tmp_path):
    patch = "import math\n            math.floor = math.ceil"
    finished, sizes, notes = run_many(patch, isolation="worker")
    assert {each.status for each in finished.values()} == {Status.DONE}
    together = max(sizes)
    assert notes == [f"one of {together} trials left behind: functions of math; they run again, one by one"]
    assert set(sizes[sizes.index(together) + 1 :]) == {1}
    assert (tmp_path / "count").stat().st_size == 40 + together + 2  # and a warm-up in both workers


def test_trials_that_write_to_standard_error_come_one_by_one(run_many):
    _, sizes, _ = run_many("pass\n        os.write(2, b'words')")
    assert set(sizes) == {1}


def test_a_bad_line_ends_a_worker_but_not_the_trials_before_it(run_many):
    write = "[os.write(each, b'[7]\\n') for each in range(3, 1024) if is_file(each)]"
    finished, _, _ = run_many(write, isolation="worker")
    bad = [each for each in finished.values() if each.status is not Status.DONE]
    assert [each.status for each in bad] == [Status.CRASHED]
    assert "wrote nonsense into its pipe (a line is not a list that begins with a word" in bad[0].reason


LATE = """
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from benchfw import CountedProblem, Problem, hookimpl

class Late(CountedProblem):
    def __init__(self, backend, rng):
        self.backend = backend
        if "colorsys" not in sys.modules:
            with Path({count!r}).open("a") as file:
                file.write("x")
        os.environ["LATE"] = "1"  # so that the trial does not run again with what it imports
        import colorsys
    def metrics(self, answer):
        return {{"answer": answer}}

@dataclass(frozen=True)
class Nap:
    number: int = 1
    solves = Problem
    def run(self, problem, rng):
        while True:
            yield float(self.number)

@hookimpl
def register_problems(register):
    register("late", Late)

@hookimpl
def register_optimizers(register):
    register("nap", Nap)
    register("doze", Nap)
"""


def test_what_one_method_made_a_problem_import_is_imported_once_for_all_methods(
    plugin_file, tmp_path, make_trial
):
    source = plugin_file(LATE.format(count=str(tmp_path / "count")), "late.py")
    cells = [
        make_trial(problem=Spec("late"), method=Spec(name, {"number": number}, f"{name} {number}"))
        for name in ("nap", "doze")
        for number in (1, 2)
    ]
    workers = executor.LocalExecutor((str(source),))
    try:
        finished = [each.outcome for each in workers.run(cells) if isinstance(each, Finished)]
    finally:
        workers.close()
    assert [each.reason for each in finished if each.status is not Status.DONE] == []
    assert (tmp_path / "count").stat().st_size == 1


def test_what_a_distribution_lists_is_a_library_wherever_it_lies(tmp_path, monkeypatch):
    (tmp_path / "tool.py").write_text("")
    (tmp_path / "mine.py").write_text("")
    metadata = tmp_path / "tool-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("\ntool.py,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    surroundings._installed.cache_clear()
    modules = {name: SimpleNamespace(__file__=str(tmp_path / f"{name}.py")) for name in ("tool", "mine")}
    assert surroundings.is_library("tool", modules["tool"])
    assert not surroundings.is_library("mine", modules["mine"])


@pytest.mark.skipif(not system.CLEAR_PEAK.exists(), reason="only Linux keeps the peak")
def test_a_peak_of_memory_is_seen_after_it_and_forgotten_on_request():
    assert system.forget_peak()
    before = system.peak_memory()
    with mmap.mmap(-1, 40_000_000) as memory:  # an array may lie where another was
        for page in range(0, len(memory), mmap.PAGESIZE):
            memory[page] = 1
    assert 35e6 < system.peak_memory() - before < 80e6
    assert system.forget_peak()
    assert system.peak_memory() - before < 20e6


def test_a_system_that_keeps_no_peak_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(system, "CLEAR_PEAK", tmp_path / "nowhere" / "clear_refs")
    assert not system.forget_peak()
