"""Passes over arrays by as many threads as a trial has: NumPy lets others work while it goes through one.

Pieces are the same for any number of threads, and so is every bit of a pass that has no sums across pieces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

LARGE = 1 << 18  # entries: starting threads for fewer takes longer than they save


def default_threads() -> int:
    """Return the threads a trial gets: OMP_NUM_THREADS where that is a number, else 1."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else 1


def over_pieces(work: Callable[[slice], object], length: int, piece: int, entries: int = 1) -> None:
    """Call work for each slice of `piece` of range(length), whose places have so many entries each.

    The calls may run at the same time and in any order, so that each writes to places of its own. Threads end
    with the pass: a trial that is forked later finds none.
    """
    threads = default_threads() if length * entries >= LARGE else 1
    pieces = _slices(length, piece)
    if threads == 1 or length <= piece:
        for each in pieces:
            work(each)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, -(-length // piece))) as pool:
        for _ in pool.map(work, pieces):
            pass  # raises what a call has raised


def _slices(length: int, piece: int) -> Iterator[slice]:
    for start in range(0, length, piece):
        yield slice(start, min(start + piece, length))
