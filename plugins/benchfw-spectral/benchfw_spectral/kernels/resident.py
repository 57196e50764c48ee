"""Recurrences with a small dense matrix on a GPU, each by one launch.

At a few hundred rows a product takes less time than its launch. Here every processor of the GPU keeps a part
of the matrix for the whole recurrence, in its shared memory as far as there is place, and the processors wait
for one another between steps. Kernels are written against `COMMON`, whose functions their sources call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchfw.kernels.operators import Operator, Whole, whole
from benchfw_spectral.kernels.resident_source import COMMON

THREADS = 512  # of a group
AT_ONCE = 4  # what a thread reads before it waits, shared with those of its team
LANES = 32  # the most columns that a launch takes
ROWS = 8, 16  # of the matrix that a group may be in charge of
WAITS, TENSOR_CORES, TEAMS = 70, 80, 90  # GPUs from which groups can wait, multiply float64, and share
CTYPES = {"f": "float", "d": "double"}
NOTHING = np.uintp(0)  # for an array that a kernel can do without


class Resident:
    """A matrix that fits into a GPU's shared memory, for recurrences that start from a block of columns."""

    def __init__(self, dense: Whole, rows: int) -> None:
        self._dense = dense
        self._rows = rows
        self._team = _team()
        self._groups = _count_groups(dense.matrix.shape[0], rows)

    def tiles(self, block: Any) -> list[Any]:
        """Return views of the columns of a block, as many in each as a launch takes."""
        columns = block.shape[1]
        if columns <= LANES:
            return [block]
        return [block[:, first : first + LANES] for first in range(0, columns, LANES)]

    def count(self, columns: int) -> None:
        """Count products with so many columns."""
        if self._dense.on_product is not None:
            self._dense.on_product(columns)

    def places(self, tile: Any, sums: int) -> Any:
        """Return memory for so many sums a column: the part of each group, and one place more."""
        import cupy

        return cupy.empty((sums, self._groups + 1, _lanes(tile)), dtype=tile.dtype)

    def launch(self, source: str, name: str, tile: Any, *arguments: Any) -> Callable[[], np.int32]:
        """Run a kernel; return what waits for it, and returns its report: 0 unless it wrote to state[1].

        Its parameters are those of `hold_rows`, where it reports to, the tile with its strides, and the
        arguments, of which Python's floats are its `real` and integers its `int`.
        """
        import cupy

        real, lanes, (size, columns) = tile.dtype.type, _lanes(tile), tile.shape
        stream = cupy.cuda.get_current_stream()
        report = cupy.cuda.alloc_pinned_memory(
            4
        )  # of the host: the device writes there, and nothing is copied
        places = _states().of(stream), np.uintp(report.ptr)
        strides = (np.int32(each // tile.itemsize) for each in tile.strides)
        matrix, scale, shift, _ = self._dense
        head = (matrix, np.int32(size), np.int32(columns), real(scale), real(shift), *places, tile, *strides)
        tail = (
            real(each) if isinstance(each, float) else np.int32(each) if isinstance(each, int) else each
            for each in arguments
        )
        compiled = _compile(source, name, tile.dtype.char, self._rows, lanes, self._team)
        part = _round_up(-(-size // self._team), 4)  # columns of a group
        entries = self._team * self._rows * part + _sums(self._rows, lanes, self._team)
        shared = min(entries * tile.itemsize, _device().shared_bytes)
        groups = (self._groups,), (THREADS,)
        compiled(*groups, (*head, *tail), shared_mem=shared, enable_cooperative_groups=True)

        def wait() -> np.int32:
            stream.synchronize()
            return np.int32(np.frombuffer(report, dtype=np.int32, count=1)[0])

        return wait


def resident(operator: Operator, block: Any) -> Resident | None:
    """Return the matrix of an operator if it fits into the GPU that the block is on; None if it does not."""
    device = _device()
    rows = next((rows for rows in ROWS if _count_groups(operator.size, rows) <= device.processors), None)
    if rows is None or device.capability < WAITS or not block.size or block.dtype.char not in CTYPES:
        return None
    dense = whole(operator)
    if dense is None or block.dtype != dense.matrix.dtype:
        return None
    if not dense.matrix.flags.c_contiguous:
        dense = dense._replace(matrix=dense.matrix.T)  # it is symmetric
    return Resident(dense, rows) if dense.matrix.flags.c_contiguous else None


def side_by_side(tiles: list[Any]) -> Any:
    """Return the columns of all tiles in one array, (…, M)."""
    import cupy

    return tiles[0] if len(tiles) == 1 else cupy.concatenate(tiles, axis=-1)


def _lanes(tile: Any) -> int:
    """Return the power of two that holds its columns, at least the eight of tensor cores."""
    return 1 << max(3, (int(tile.shape[1]) - 1).bit_length())


def _sums(rows: int, lanes: int, team: int) -> int:
    """Return how many sums a group has places for: those of its warps, and those of its team."""
    return max(THREADS // 32 * 8 * (lanes + 8), THREADS) + team * rows * lanes


def _count_groups(size: int, rows: int) -> int:
    """Return how many groups have all rows of a matrix: whole teams."""
    return _round_up(-(-size // rows), _team())


def _round_up(number: int, step: int) -> int:
    return number + -number % step


def _team() -> int:
    """Return how many groups share their rows: each reads as much less of a block, which takes most time."""
    return 2 if _device().capability >= TEAMS else 1


class _States(threading.local):
    """Where groups of threads count one another: a place for each stream, as a thread of the host has it."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], Any] = {}

    def of(self, stream: Any) -> Any:
        """Return zeros on the device, which every kernel leaves as it found them."""
        import cupy

        key = cupy.cuda.runtime.getDevice(), stream.ptr
        if key not in self._found:
            self._found[key] = cupy.zeros(3, dtype=np.int32)
        return self._found[key]


@cache
def _states() -> _States:
    return _States()


class Device(NamedTuple):
    """What a GPU has: its generation, processors, and the bytes of shared memory of a group."""

    capability: int
    processors: int
    shared_bytes: int


@cache
def _device() -> Device:
    import cupy

    device = cupy.cuda.Device()
    attributes = device.attributes
    processors, shared = attributes["MultiProcessorCount"], attributes["MaxSharedMemoryPerBlockOptin"]
    return Device(int(device.compute_capability), int(processors), int(shared))


@cache
def _compile(source: str, name: str, kind: str, rows: int, lanes: int, team: int) -> Any:
    import cupy

    device = _device()
    names = {"THREADS": THREADS, "AT_ONCE": AT_ONCE // team, "ROWS": rows, "LANES": lanes}
    names |= {"TEAM": team, "SUMS": _sums(rows, lanes, team)}
    lines = [f"#define {each} {value}" for each, value in names.items()]
    lines += [f"typedef {CTYPES[kind]} real;"]
    lines += ["#define TENSOR_CORES"] * (kind == "d" and device.capability >= TENSOR_CORES)
    compiled = cupy.RawKernel("\n".join([*lines, COMMON, source]), name)
    compiled.max_dynamic_shared_size_bytes = device.shared_bytes
    return compiled.kernel
