"""How fast the machine is while a run goes on: a loop of known work, before, between and after its trials.

A turn of the loop takes about a millisecond and always does the same, so that what it takes longer than the
fastest turn is other work on the machine, or a slower processor. The loop takes less than 1 % of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, perf_counter, process_time, sleep, time

from benchfw.provenance import Burst, Noise
from benchfw.system import own_seconds

ADDITIONS = 15_000  # of a turn
TURNS = 50
FIRST_TURNS = 10  # of the burst before the first trial: a run of a moment should not wait for it
SPACING = 5.0  # seconds between bursts
SHARE = 40  # in a long run a 40th of its time so far: a day has fewer than 300 bursts
SHORTEST_RUN = 1.0  # seconds: a shorter run has the first burst only
QUIET = 1.05  # a burst that took less than so many fastest turns a turn
QUIET_BURSTS = 3  # one after the other, for a machine to be quiet
PAUSE = 0.5  # seconds between them


def run_loop(turns: int = TURNS) -> Burst:
    """Run the loop and return what its turns took."""
    began, cpu, taken = time(), process_time(), []
    for _ in range(turns):
        start, total = perf_counter(), 0
        for number in range(ADDITIONS):
            total += number & 7
        taken.append(perf_counter() - start)
    return Burst(began, sum(taken) / turns, min(taken), (process_time() - cpu) / turns)


class NoiseMeter:
    """Runs the loop now and then while no trial runs."""

    def __init__(self) -> None:
        self._began = self._last = monotonic()
        self._used, self._own = _busy_seconds(), own_seconds()
        self._bursts = [run_loop(FIRST_TURNS)]

    def look(self) -> Noise | None:
        """Run the loop if the last time was long ago, and return what was seen so far; else None."""
        now = monotonic()
        if now - self._last < max(SPACING, (now - self._began) / SHARE):
            return None
        self._bursts.append(run_loop())
        self._last = monotonic()
        return Noise(tuple(self._bursts))

    def finish(self) -> Noise:
        """Run the loop once more, after a run that was not over in a moment, and return what was seen."""
        lasted = monotonic() - self._began
        if lasted >= SHORTEST_RUN:
            self._bursts.append(run_loop(TURNS if lasted >= SPACING else FIRST_TURNS))
        return Noise(tuple(self._bursts), self._others())

    def _others(self) -> float | None:
        """Return the cores that others kept busy; known once this process has waited for its workers."""
        lasted = monotonic() - self._began
        own = own_seconds()
        if own is None or self._own is None or lasted < SHORTEST_RUN:
            return None
        used = _busy_seconds() - self._used - (own - self._own)
        return round(max(0.0, used / lasted), 2)


def wait_until_quiet(limit: float, tell: Callable[[float, float], None]) -> tuple[float, bool]:
    """Run the loop until the machine is quiet, for so many seconds at most; return slow-down and whether.

    `tell` hears after each burst how many seconds have passed, and the slow-down of the last bursts.
    """
    began, bursts = monotonic(), [run_loop()]
    while True:
        recent, quiet = bursts[-QUIET_BURSTS:], min(each.fastest for each in bursts)
        slowdown, waited = max(each.seconds for each in recent) / quiet, monotonic() - began
        if len(recent) == QUIET_BURSTS and slowdown < QUIET:
            return slowdown, True
        if waited >= limit:
            return slowdown, False
        tell(waited, slowdown)
        sleep(PAUSE)
        bursts.append(run_loop())


def _busy_seconds() -> float:
    """Return the seconds that all cores have worked for anybody; a system has some of these kinds."""
    import psutil

    times = psutil.cpu_times()
    kinds = ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")
    return sum(getattr(times, kind, 0.0) for kind in kinds)
