"""Passes over arrays by as many threads as a trial has: NumPy lets others work while it goes through one.

Where a pass has no sums across entries, every bit is the same for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable

WIDE = 1 << 20  # entries that a thread takes at a time, at most
LEAST = 5e5  # nanoseconds of work for each thread, so that its start is the smaller part


def default_threads() -> int:
    """Return the threads a trial gets: OMP_NUM_THREADS where that is a number, else 1."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else 1


def useful_threads(nanoseconds: float) -> int:
    """Return how many of a trial's threads are worth starting for work of so many nanoseconds."""
    return max(1, min(default_threads(), int(nanoseconds / LEAST)))


def over_pieces(
    work: Callable[[slice], object], length: int, piece: int, entries: int = 1, nanoseconds: float = 1.0
) -> None:
    """Call work for slices of range(length), of whole pieces, whose places have so many entries each.

    An entry takes one thread about so many nanoseconds. One thread takes a piece at a time, which should fit
    into the cache; several take more at a time. The calls may run at the same time and in any order, so that
    each writes to places of its own. Threads end with the pass: a trial that is forked later finds none.
    """
    threads = useful_threads(length * entries * nanoseconds)
    if threads > 1:  # between its calls a thread waits for Python's lock: few long calls are best
        shares = min(threads * -(-length * entries // (threads * WIDE)), -(-length // piece))
        piece *= -(-length // (piece * shares))
    pieces = [slice(start, min(start + piece, length)) for start in range(0, length, piece)]
    if min(threads, len(pieces)) <= 1:
        for each in pieces:
            work(each)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
        for _ in pool.map(work, pieces):
            pass  # raises what a call has raised
