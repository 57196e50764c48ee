"""Seeds from coordinates: what a trial is decides its randomness, never when or where it runs."""

from __future__ import annotations

import hashlib
import random

import numpy as np

from benchfw.records import Trial


def data_seed(trial: Trial) -> int:
    """Return the seed of the problem's data, the same for every method and backend.

    Tuning and the verdict never share it, and so neither the seeds of methods.
    """
    if trial.tuning:
        coordinates = f"{trial.tuning},{trial.seed},{trial.problem.sorted_text},{trial.repetition}"
        return _hash(f'["tuning",{coordinates}]')
    return _hash(f'["data",{trial.seed},{trial.problem.sorted_text},{trial.repetition}]')


def method_seed(trial: Trial, data_seed: int) -> int:
    """Return the seed of the method's own randomness, the same on every backend."""
    return _hash(f'["method",{data_seed},"{trial.kind}",{trial.method.sorted_text}]')


def tuner_seed(seed: int, spaces: str) -> int:
    """Return the seed of the settings that tuning tries in some spaces."""
    return _hash(f'["tuner",{seed},1,{spaces}]')


def order_seed(seed: int) -> int:
    """Return the seed of the order in which a suite's trials run."""
    return _hash(f'["order",{seed}]')


def seed_global_generators(seed: int) -> None:
    """Give a method that draws from them, though it should not, the same numbers in any order of trials."""
    random.seed(seed % 2**32)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the legacy generator is the global one


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
