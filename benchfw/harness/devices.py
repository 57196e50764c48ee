"""The devices of this machine, and the trials that need one each."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable

from benchfw.backends import Device, get_backend, is_on_device
from benchfw.errors import BackendUnavailable
from benchfw.records import Trial


def needs_device(trial: Trial) -> bool:
    """Return whether a trial must have a device to itself."""
    return is_on_device(trial.backend)


def find_devices(backends: Iterable[str]) -> tuple[Device, ...]:
    """Return the devices for trials on these backends, as the first of them that is here counts them."""
    for name in backends:
        if is_on_device(name):
            with contextlib.suppress(BackendUnavailable):
                return get_backend(name).devices()
    return ()


class TrialQueue:
    """Trials in the order given; a worker without a device passes over those that need one."""

    def __init__(self, trials: Iterable[Trial], needs_device: Callable[[Trial], bool] = needs_device) -> None:
        self._trials: dict[bool, deque[tuple[int, Trial]]] = {False: deque(), True: deque()}
        self._needs_device = needs_device
        for number, trial in enumerate(trials):
            self._trials[needs_device(trial)].append((number, trial))
        self._front = 0

    def __len__(self) -> int:
        return sum(map(len, self._trials.values()))

    def take(self, *, has_device: bool) -> Trial | None:
        """Return the first trial that a worker with or without a device can run, and forget it."""
        able = [queue for needs, queue in self._trials.items() if queue and (has_device or not needs)]
        return min(able, key=lambda queue: queue[0][0]).popleft()[1] if able else None

    def put_back(self, trial: Trial) -> None:
        """Let a trial be the next."""
        self._front -= 1
        self._trials[self._needs_device(trial)].appendleft((self._front, trial))
