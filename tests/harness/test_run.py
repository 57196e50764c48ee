"""A run plans, leaves out what the store has, and keeps every outcome."""

import contextlib
import gc
import tracemalloc
from dataclasses import replace

import pytest

from benchfw.api.planning import plan_suite
from benchfw.api.progress import Pace
from benchfw.api.running import look_up
from benchfw.api.session import run as run_suite
from benchfw.backends import get_backend
from benchfw.errors import StoreError, Unavailable
from benchfw.harness import run as harness
from benchfw.harness.agenda import check_methods, prepare
from benchfw.harness.events import Finished, Started, TrialQueue, Waiting
from benchfw.harness.options import Options
from benchfw.harness.run import Batch, execute
from benchfw.measure.seeding import order_seed
from benchfw.measure.trial import collector, run_trial
from benchfw.plan import plan
from benchfw.provenance import Changes
from benchfw.records import Ending, Outcome, Status
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.suite import parse_suite
from benchfw.trials import Chosen

SUITE = """
seed = 3
repetitions = 2
budget = { iterations = 5 }
[[problem]]
use = "bowl"
[[estimator]]
use = "noisy"
[[optimizer]]
use = "slide"
step = [0.5, 0.25]
"""


class Here:
    """An executor that runs trials in this process."""

    def __init__(self, registry, fail=()):
        self.registry, self.fail, self.ran, self.closed = registry, fail, [], False

    def run(self, trials):
        for trial in trials:
            yield Started(trial)
            self.ran.append(trial)
            records, emit = collector()
            outcome = run_trial(trial, self.registry, emit)
            if trial.method.label in self.fail:
                outcome = Outcome(Status.FAILED, Ending.FAULT, "told to")
            yield Finished(trial, replace(outcome, records=tuple(records), seconds=0.1))

    def close(self):
        self.closed = True


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite", create=True) as opened:
        yield opened


@pytest.fixture
def go(registry, store, monkeypatch):
    """Return a function that runs a suite's text in this process; it gives run, executor and events."""

    def run(text=SUITE, fail=(), registry=registry, **options):
        suite = parse_suite(text, "my.toml")
        executor = Here(registry, fail)
        monkeypatch.setattr(harness, "make_executor", lambda *_: executor)
        given, events = Options(replay=False, **options), []
        agenda = prepare(suite, plan(suite, registry), registry, store, given, Changes())
        return execute(agenda, registry, store, given, events.append), executor, events

    return run


def test_every_trial_is_run_and_stored_and_the_run_says_so(go, store):
    run, executor, events = go()
    assert len(executor.ran) == 6
    assert executor.closed
    assert run.counts == {"done": 6}
    assert run.finished
    assert (events[0].total, events[0].reused) == (6, 0)
    assert [result.trial.method.label for result in store.results(run.id)] == [
        *["slide (step=0.5)"] * 2,
        *["slide (step=0.25)"] * 2,
        *["noisy"] * 2,
    ]


def test_a_run_notes_how_it_was_run_and_what_went_into_its_keys(go):
    run, _, events = go(jobs=2, threads=3)
    facts = run.environment
    assert (facts.jobs, facts.threads, facts.trials, facts.changes) == (2, 3, 6, Changes())
    assert facts.machine.processor
    assert facts.sources.keys() == {"benchfw", "toys", "toy_helper"}
    assert facts.datasets == {}
    assert (events[0].jobs, events[0].pending, len(events[0].by_cell)) == (2, 6, 3)


def test_a_second_run_runs_nothing_again(go, store):
    first, _, _ = go()
    second, executor, events = go()
    assert executor.ran == []
    assert (second.reused, events[0].reused, second.counts) == (6, 6, {"done": 6})
    assert [r.id for r in store.results(first.id)] == [r.id for r in store.results(second.id)]


def test_a_new_label_runs_nothing_again_and_a_new_step_only_itself(go):
    go()
    _, executor, _ = go(SUITE.replace('"noisy"', '"noisy"\nlabel = "mine"'))
    assert executor.ran == []
    _, executor, _ = go(SUITE.replace("0.25]", "0.25, 0.125]"))
    assert {trial.method.params["step"] for trial in executor.ran} == {0.125}


def test_more_threads_run_all_again(go):
    go()
    assert len(go(threads=2)[1].ran) == 6


def test_fresh_runs_all_again(go):
    go()
    assert len(go(fresh=True)[1].ran) == 6


def test_failed_trials_are_run_again_only_when_asked_for(go):
    run, _, _ = go(fail=["noisy"])
    assert run.faults == 2
    assert go()[1].ran == []
    assert [trial.method.label for trial in go(retry_failed=True)[1].ran] == ["noisy", "noisy"]
    assert go(retry_failed=True)[1].ran == []


def test_fail_fast_stops_at_the_first_fault_and_keeps_what_was_done(go, store):
    run, executor, _ = go(fail=["noisy", "slide (step=0.5)", "slide (step=0.25)"], fail_fast=True)
    assert len(executor.ran) == len(store.results(run.id)) == 1
    assert executor.closed


def test_repetitions_are_interleaved_in_an_order_drawn_from_the_seed(go):
    many = SUITE.replace("[0.5, 0.25]", str([2.0**-k for k in range(8)]))
    first = go(many, fresh=True)[1].ran
    assert [trial.repetition for trial in first] == [0] * 9 + [1] * 9
    assert [trial.key for trial in go(many, fresh=True)[1].ran] == [trial.key for trial in first]
    other = go(many.replace("seed = 3", "seed = 4"), fresh=True)[1].ran
    assert [t.method.label for t in other] != [t.method.label for t in first]
    assert [t.method.label for t in first[:9]] != [t.method.label for t in first[9:]]


def test_an_interrupted_run_keeps_what_was_finished_and_is_taken_up_again(go, store, monkeypatch):
    def stop_after_three(self, trials):
        for number, event in enumerate(original(self, trials)):
            yield event
            if number == 5:
                raise KeyboardInterrupt

    original = Here.run
    with monkeypatch.context() as patch:
        patch.setattr(Here, "run", stop_after_three)
        with pytest.raises(KeyboardInterrupt):
            go()
    assert sum(store.run("last").counts.values()) == 3
    run, executor, _ = go()
    assert len(executor.ran) == 3
    assert run.counts == {"done": 6}


def test_what_another_run_finished_since_the_first_look_is_not_run_again(registry, store, monkeypatch):
    suite = parse_suite(SUITE, "my.toml")
    early = prepare(suite, plan(suite, registry), registry, store, Options(replay=False), Changes())
    runs, pace = {}, Pace()
    for name in ("late", "early"):
        executor = Here(registry)
        monkeypatch.setattr(harness, "make_executor", lambda *_, executor=executor: executor)
        agenda = (
            early
            if name == "early"
            else prepare(suite, plan(suite, registry), registry, store, Options(replay=False), Changes())
        )
        runs[name] = (
            execute(agenda, registry, store, Options(replay=False), pace.hear),
            len(executor.ran),
        )
        assert (pace.left, pace.seconds_left()) == (0, 0)
    assert runs["late"][1] == 6
    assert runs["early"][1] == 0
    assert (runs["early"][0].counts, runs["early"][0].reused) == ({"done": 6}, 6)


def test_what_another_run_tried_again_in_vain_is_not_tried_a_third_time(go, registry, store, monkeypatch):
    go(fail=["noisy"])
    suite, options = parse_suite(SUITE, "my.toml"), Options(retry_failed=True, replay=False)
    early = prepare(suite, plan(suite, registry), registry, store, options, Changes())
    go(fail=["noisy"], retry_failed=True)
    executor = Here(registry)
    monkeypatch.setattr(harness, "make_executor", lambda *_: executor)
    assert execute(early, registry, store, options, lambda _: None).faults == 2
    assert executor.ran == []


def test_what_has_ended_is_kept_and_told_before_a_run_waits_for_another(go, registry, store, monkeypatch):
    suite = parse_suite(SUITE, "my.toml")
    agenda = prepare(suite, plan(suite, registry), registry, store, Options(), Changes())
    kept = []
    with Store(store.path) as elsewhere, contextlib.ExitStack() as lock:
        other = elsewhere.begin("other", "", "", agenda.environment)
        lock.enter_context(elsewhere.hold_run_lock(other))
        elsewhere.reserve(other, agenda.keys(agenda.pending[:1]))

        def sleep(_):
            kept.append(elsewhere.newest())
            lock.close()

        monkeypatch.setattr(harness, "sleep", sleep)
        monkeypatch.setattr(harness, "monotonic", lambda: 0.0)
        run, _, events = go()
    assert kept == [5]
    names = [type(event).__name__ for event in events]
    assert names == ["Begun", *["Started", "Finished"] * 5, "Awaited", "Started", "Finished"]
    assert run.counts == {"done": 6}


def test_trials_on_an_absent_backend_are_skipped_with_the_reason_and_tried_the_next_time(
    go, store, monkeypatch
):
    from benchfw.harness import environment

    gpu = {"unavailable": "no GPU here"}
    describe = environment.describe
    monkeypatch.setattr(environment, "describe", lambda name: gpu if name == "cupy" else describe(name))
    text = 'backends = ["numpy", "cupy"]\n' + SUITE
    run, executor, _ = go(text)
    assert run.counts == {"done": 6, "skipped": 6}
    assert {t.backend for t in executor.ran} == {"numpy"}
    assert {r.outcome.reason for r in store.results(run.id) if r.trial.backend == "cupy"} == {"no GPU here"}
    assert go(text)[0].reused == 6


def test_a_method_whose_library_is_absent_does_not_stop_the_others(registry, make_trial, monkeypatch):
    def absent(*_):
        raise Unavailable("snowplow is not installed; pip install snowplow")

    monkeypatch.setattr(registry, "build", absent)
    check_methods([make_trial()], registry, "my.toml")


def test_the_unit_of_cost_is_what_the_problem_says(go, store):
    assert {result.outcome.cost_unit for result in store.results(go()[0].id)} == {"slopes"}


OWN_UNIT = """from benchfw import hookimpl
from toys import Bowl

def make(backend, rng):
    bowl = Bowl(backend, rng)
    bowl.cost_unit = "products"
    return bowl

@hookimpl
def register_problems(register):
    register("own", make)
"""


def test_the_unit_of_cost_may_be_set_when_the_problem_is_built(plugin_file, toys, tmp_path):
    suite = tmp_path / "own.toml"
    suite.write_text(SUITE.replace('"bowl"', '"own"').replace("repetitions = 2", "repetitions = 1"))
    plugins = [str(toys), str(plugin_file(OWN_UNIT, "own.py"))]
    run = run_suite(suite, store=tmp_path / "own.sqlite", plugins=plugins, only="step=0.5")
    with Store(tmp_path / "own.sqlite") as opened:
        assert {result.outcome.cost_unit for result in opened.results(run.id)} == {"products"}


HOOKS = """from benchfw import hookimpl

heard = []

@hookimpl
def trial_started(trial):
    heard.append("started")

@hookimpl
def trial_finished(trial, status):
    heard.append(str(status))

@hookimpl
def run_finished(run):
    heard.append(run.id)
"""


def test_plugins_hear_of_trials_and_of_the_end(go, plugin_file, toys):
    registry = Registry([str(toys), str(plugin_file(HOOKS, "hooks.py"))])
    run, _, _ = go(registry=registry)
    import hooks

    assert hooks.heard == ["started", "done"] * 6 + [run.id]


def test_an_agenda_and_its_queue_need_a_few_bytes_a_trial(registry, store):
    def make(repetitions):
        suite = parse_suite(SUITE.replace("repetitions = 2", f"repetitions = {repetitions}"), "my.toml")
        gc.collect()  # what looked at the sources before refers to itself
        tracemalloc.reset_peak()
        agenda = prepare(suite, plan(suite, registry), registry, store, Options(), Changes())
        queue = TrialQueue(Chosen(agenda.trials, agenda.pending.data))
        taken = [queue.take(has_device=False) for _ in range(6)]
        return agenda, queue, taken, tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    make(2)  # what is imported and parsed for the first time does not count
    few = make(2)[-1]
    agenda, queue, taken, many = make(1_000)
    tracemalloc.stop()
    assert len(queue) == 3_000 - 6
    assert [trial.repetition for trial in taken] == [0, 0, 0, 1, 1, 1]
    draws = get_backend("numpy").rng(order_seed(agenda.suite.seed)).bits(3_000).tolist()
    in_order = sorted(range(3_000), key=lambda each: (each % 1_000, draws[each]))
    assert agenda.pending.tolist() == in_order
    assert many - few < 80 * 3_000


def test_looking_at_what_a_run_would_do_writes_nothing(registry, toys, tmp_path):
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    planned = plan_suite(path, [str(toys)])
    agenda = look_up(planned, tmp_path / "none" / "store.sqlite", Options())
    assert len(agenda.pending) == 6
    assert not (tmp_path / "none").exists()


def test_a_plugin_in_a_suite_is_looked_for_beside_it(toys, tmp_path, monkeypatch):
    path = toys.parent / "suite.toml"
    path.write_text('plugins = ["toys.py"]\n' + SUITE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(plan_suite(path).trials) == 6


@pytest.fixture
def batch(monkeypatch):
    """Return a batch at a time of day that stands still, and the list of what it did."""
    monkeypatch.setattr(harness, "monotonic", lambda: 0.0)
    done = []
    batch = Batch(
        hear=lambda event: done.append(f"{type(event).__name__} {event.trial.key}".lower()),
        keep=lambda finished: done.append("keep " + " ".join(each.trial.key for each in finished)),
    )
    return batch, done


def test_trials_that_end_close_together_are_kept_together_and_only_then_reported(batch, make_trial):
    (batch, done), outcome = batch, Outcome(Status.DONE, Ending.ITERATIONS)
    one, two, three = (make_trial(key=key) for key in ("one", "two", "three"))
    with batch:
        batch.add(Started(one))
        batch.add(Finished(one, outcome))
        assert done == ["started one", "keep one", "finished one"]
        done.clear()
        for event in (Started(two), Finished(two, outcome), Started(three), Finished(three, outcome)):
            batch.add(event)
        assert done == []
        batch.add(Waiting())
        rest = ["started two", "finished two", "started three", "finished three"]
        assert done == ["keep two three", *rest]
        batch.add(Finished(one, outcome))
        assert done[-1] == "finished three"
        batch.add(Finished(two, Outcome(Status.FAILED, Ending.FAULT)))
        assert done[-3:] == ["keep one two", "finished one", "finished two"]
        batch.add(Finished(three, outcome))
    assert done[-2:] == ["keep three", "finished three"]


def _interrupt_after(batch, *events):
    with batch:
        for event in events:
            batch.add(event)
        raise KeyboardInterrupt


def test_an_interruption_loses_no_trial_that_has_ended(batch, make_trial):
    (batch, done), outcome = batch, Outcome(Status.DONE, Ending.ITERATIONS)
    with pytest.raises(KeyboardInterrupt):
        _interrupt_after(batch, *(Finished(make_trial(key=key), outcome) for key in ("one", "two")))
    assert done == ["keep one", "finished one", "keep two", "finished two"]


def test_an_interruption_in_a_commit_is_not_hidden_by_what_was_committed_already(make_trial):
    faults = iter([KeyboardInterrupt(), StoreError("it is there twice")])

    def keep(_finished):
        raise next(faults)

    event = Finished(make_trial(), Outcome(Status.DONE, Ending.ITERATIONS))
    with pytest.raises(KeyboardInterrupt):
        _interrupt_after(Batch(lambda _: None, keep), event)
    assert next(faults, None) is None  # it tried again
