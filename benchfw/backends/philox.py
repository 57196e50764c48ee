"""Random words by address, made on the host."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np


class _Stream(threading.local):
    """One Philox a thread, moved to each new address: making a new one costs five times as much."""

    def __init__(self) -> None:
        self.generator = np.random.Philox(key=0)
        self.state: Any = self.generator.state
        self.key: np.ndarray = self.state["state"]["key"]
        self.counter: np.ndarray = self.state["state"]["counter"]


@cache
def _streams() -> _Stream:
    # numpy.random is a sixtieth of a second to import: not before the first draw
    return _Stream()


def philox_words(seed: int, stream: int, block: int, start: int, count: int) -> np.ndarray:
    """Return words start … start+count-1 of a block: (count,) uint64, from Philox-4x64-10.

    Four words share a counter, and NumPy adds one to the counter before it uses it, so that words
    4i … 4i+3 are Philox at counter (i+1, block, 0, 0), key (seed, stream). Salmon et al. 2011.
    """
    address, skip = divmod(start, 4)
    own = _streams()
    own.key[0] = seed
    own.key[1] = stream
    own.counter[0] = address
    own.counter[1] = block
    # assigning the state also empties the buffer: the saved buffer position says that none is left
    own.generator.state = own.state
    words: np.ndarray = own.generator.random_raw(skip + count)
    return words[skip:] if skip else words
