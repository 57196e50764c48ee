"""The GPUs of this machine, and the trials that need one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.records import Trial

GPU_BACKENDS = frozenset({"cupy"})
VISIBLE = "CUDA_VISIBLE_DEVICES"


class Device(NamedTuple):
    """One GPU: its number as CUDA_VISIBLE_DEVICES writes it, and its model."""

    number: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} #{self.number}"


def needs_gpu(trial: Trial) -> bool:
    """Return whether a trial must have a GPU to itself."""
    return trial.backend in GPU_BACKENDS


def gpus() -> tuple[Device, ...]:
    """Return the GPUs here that are of the same model as the first: the one that keys and reports name."""
    try:
        runtime = get_backend("cupy").xp.cuda.runtime
    except BackendUnavailable:
        return ()
    count = runtime.getDeviceCount()
    asked = os.environ.get(VISIBLE)
    numbers = [each.strip() for each in asked.split(",")][:count] if asked else map(str, range(count))
    names = [_text(runtime.getDeviceProperties(position)["name"]) for position in range(count)]
    return tuple(
        Device(number, name) for number, name in zip(numbers, names, strict=True) if name == names[0]
    )


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


class Waiting:
    """Trials in the order given; a worker without a GPU passes over those that need one."""

    def __init__(self, trials: Iterable[Trial]) -> None:
        self._trials: dict[bool, deque[tuple[int, Trial]]] = {False: deque(), True: deque()}
        for number, trial in enumerate(trials):
            self._trials[needs_gpu(trial)].append((number, trial))
        self._front = 0

    def __bool__(self) -> bool:
        return any(self._trials.values())

    def take(self, *, gpu: bool) -> Trial | None:
        """Return the first trial that a worker with or without a GPU can run, and forget it."""
        able = [queue for needs, queue in self._trials.items() if queue and (gpu or not needs)]
        return min(able, key=lambda queue: queue[0][0]).popleft()[1] if able else None

    def put_back(self, trial: Trial) -> None:
        """Let a trial be the next."""
        self._front -= 1
        self._trials[needs_gpu(trial)].appendleft((self._front, trial))
