"""A loop of known work tells how busy the machine is, around trials and never during them."""

import pytest

from benchfw.harness import noise
from benchfw.provenance import Burst, Environment, Noise
from benchfw.records import Ending, Outcome, Status
from benchfw.store import Store


@pytest.fixture
def machine(monkeypatch):
    """A machine whose clock and whose speed the test sets: `now` and the seconds of a turn."""
    state = {"now": 0.0, "turn": 0.001, "slept": 0.0}

    def run_loop(turns=noise.TURNS):
        state["now"] += turns * state["turn"]
        return Burst(1.0 + state["now"], state["turn"], 0.001, 0.001)

    def sleep(seconds):
        state["now"] += seconds
        if state["now"] > 10:
            state["turn"] = 0.001

    monkeypatch.setattr(noise, "run_loop", run_loop)
    monkeypatch.setattr(noise, "monotonic", lambda: state["now"])
    monkeypatch.setattr(noise, "sleep", sleep)
    return state


def test_the_loop_runs_at_the_start_then_seconds_apart_and_at_the_end(machine):
    meter = noise.NoiseMeter()
    assert meter.look() is None  # a moment later
    for turn in (0.001, 0.002, 0.002):
        machine.update(now=machine["now"] + 6, turn=turn)
        assert meter.look()
    assert [each.seconds for each in meter.finish().bursts] == [0.001, 0.001, 0.002, 0.002, 0.002]
    short = noise.NoiseMeter()
    machine["now"] += 0.5
    assert len(short.finish().bursts) == 1


def test_a_long_run_has_a_bounded_number_of_bursts(machine):
    meter = noise.NoiseMeter()
    for _ in range(8640):
        machine["now"] += 10.0
        meter.look()
    assert len(meter.finish().bursts) < 300


def test_waiting_ends_when_the_machine_is_quiet_or_the_limit_is_reached(machine):
    heard = []
    machine["turn"] = 0.003
    assert noise.wait_until_quiet(60, lambda *said: heard.append(said)) == (pytest.approx(1.0), True)
    assert 10 < machine["now"] < 15
    assert heard[0][1] == pytest.approx(3.0)
    machine.update(now=0.0, turn=0.002)
    assert noise.wait_until_quiet(5, lambda *_: None) == (pytest.approx(2.0), False)


def test_a_real_turn_takes_time_and_other_work_is_counted_from_the_system():
    burst = noise.run_loop(3)
    assert 0 < burst.fastest <= burst.seconds
    assert burst.cpu_seconds > 0


def test_a_run_that_reuses_trials_has_the_noise_of_the_run_that_measured_them(tmp_path, make_trial):
    trial = make_trial()
    bursts = [Burst(float(k), 0.001 * k, 0.001, 0.001) for k in (1, 2, 3)]
    with Store(tmp_path / "s.sqlite", create=True) as store:
        first, second, third = (store.begin("s", "S", "", Environment()) for _ in range(3))
        number = store.add(first, 0, trial, Outcome(Status.DONE, Ending.ITERATIONS))
        store.note_noise(first, Noise((bursts[1],)))
        store.finish(first, Noise((bursts[0], bursts[1]), others=0.5))
        store.reuse(second, [(0, trial, number)])
        store.finish(second, Noise((bursts[2],)))
        store.finish(third)
        assert store.run(first).noise == Noise((bursts[0], bursts[1]), others=0.5)
        assert store.run(second).noise.bursts == tuple(bursts)
        assert store.run(third).noise == Noise()


@pytest.mark.parametrize(
    "data",
    [
        {"bursts": [[1, 2]]},
        {"bursts": [[1, 0, 1, 1]]},
        {"bursts": [[1, 1, 1, float("nan")]]},
        {"others": "many"},
        [],
    ],
)
def test_noise_that_is_not_numbers_is_refused(data):
    with pytest.raises(ValueError, match="how noisy"):
        Noise.from_json(data)
