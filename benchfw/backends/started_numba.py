"""numba after its first call, which takes a third of a second: on import, not on the clock of a trial.

Workers import what a trial imports before they measure it (`harness/workers/worker.py`). Code that compiles
functions therefore imports numba from this module.
"""

from __future__ import annotations

import numba

__all__ = ["numba"]


def _return_it(value: float) -> float:
    return value


start = numba.njit(_return_it, cache=True)
start(0.0)
