"""CuPy on an NVIDIA GPU; the only file of the core that imports cupy, and only inside functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

import numpy as np

from benchfw.backends.backend import Backend, Device
from benchfw.backends.cuda_source import PHILOX, box_muller_source
from benchfw.backends.normals import precision_for
from benchfw.backends.precisions import SINGLE, Precision
from benchfw.errors import BackendUnavailable

_THREADS = 256
_GRID_ROWS = 65_535  # CUDA's limit
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@cache
def _philox_kernel() -> Any:
    import cupy

    return cupy.RawKernel(PHILOX, "philox_words")


@cache
def _box_muller_kernel(precision: Precision) -> Any:
    import cupy

    # contraction of a * b + c into one rounding would change a third of the results
    return cupy.RawKernel(box_muller_source(precision), "box_muller", options=("--fmad=false",))


def _refuse(what: str, fault: BaseException | None = None) -> NoReturn:
    # cupy's messages run over many lines of advice; the first one names the fault
    lines = str(fault).strip().splitlines() or [type(fault).__name__]
    reason = f"{what} ({lines[0].strip()})" if fault else what
    raise BackendUnavailable(f"cupy is not available: {reason}; install benchfw[cuda12] or benchfw[cuda13]")


def _version(number: int) -> str:
    """Return CUDA's version number, 12040, as it is written, 12.4."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


class CupyBackend(Backend):
    """Arrays in the memory of the current CUDA device."""

    name = "cupy"
    on_device = True

    def __init__(self) -> None:
        """Make one draw on the device; BackendUnavailable says what is missing."""
        try:
            import cupy
        except (ImportError, OSError) as fault:
            if isinstance(fault, ModuleNotFoundError) and fault.name == "cupy":
                _refuse("the package is not installed")
            _refuse("the package is installed but cannot be imported", fault)
        try:
            devices = cupy.cuda.runtime.getDeviceCount()
        except RuntimeError as fault:
            # CUDA's own words tell a missing driver from a missing GPU and from a driver that is too old
            _refuse("the package is installed but finds no driver or GPU that it can use", fault)
        if not devices:
            _refuse("the package is installed but there is no GPU")
        self.xp = cupy
        try:
            self.bits(0, 0, 0, 0, 1)
            self.synchronize()
        except (RuntimeError, OSError, ImportError, cupy.cuda.compiler.CompileException) as fault:
            _refuse("the package is installed but cannot run a kernel; was it built for this CUDA?", fault)

    def devices(self) -> tuple[Device, ...]:
        """Return the GPUs here of the first one's model, numbered as CUDA_VISIBLE_DEVICES numbers them."""
        runtime = self.xp.cuda.runtime
        count = runtime.getDeviceCount()
        asked = os.environ.get(_VISIBLE)
        numbers = [each.strip() for each in asked.split(",")][:count] if asked else map(str, range(count))
        names = [_text(runtime.getDeviceProperties(position)["name"]) for position in range(count)]
        return tuple(
            Device(number, name, _VISIBLE)
            for number, name in zip(numbers, names, strict=True)
            if name == names[0]
        )

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a CuPy array; host arrays are copied to the device."""
        return self.xp.asarray(values, dtype=dtype)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return a copy of the array on the host."""
        host: np.ndarray = self.xp.asnumpy(values)
        return host

    def sparse_rows(self, matrix: Any) -> Any:
        """Return a sparse matrix of SciPy as compressed sparse rows on the device."""
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(matrix.tocsr())

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words start … start+count-1 of a block of the stream (seed, stream), as uint64."""
        return self._bits(seed, stream, block, 1, start, count)[0]

    def bits_of_blocks(self, seed: int, stream: int, first: int, blocks: int, count: int) -> Any:
        """Return the first `count` words of each of so many successive blocks: (blocks, count) uint64."""
        pieces = [
            self._bits(seed, stream, first + start, min(_GRID_ROWS, blocks - start), 0, count)
            for start in range(0, max(blocks, 1), _GRID_ROWS)
        ]
        return pieces[0] if len(pieces) == 1 else self.xp.concatenate(pieces)

    def _bits(self, seed: int, stream: int, first: int, blocks: int, start: int, count: int) -> Any:
        words = self.xp.empty((blocks, count), dtype=np.uint64)
        if words.size:
            address = tuple(map(np.uint64, (seed, stream, first, start, count)))
            groups = (start % 4 + count + 3) // 4
            grid = ((groups + _THREADS - 1) // _THREADS, blocks)
            _philox_kernel()(grid, (_THREADS,), (*address, words))
        return words

    def normals(self, words: Any, dtype: Any) -> Any:
        """Return the normals of these words by one CUDA kernel: those of `normals.box_muller`, bit by bit."""
        precision = precision_for(words, dtype)
        words = self.xp.ascontiguousarray(words)
        pairs = words.shape[0] // (1 if precision is SINGLE else 2)
        normals = self.xp.empty(2 * pairs, dtype=precision.floating)
        if pairs:
            blocks = (pairs + _THREADS - 1) // _THREADS
            _box_muller_kernel(precision)((blocks,), (_THREADS,), (words, np.uint64(pairs), normals))
        return normals

    def synchronize(self) -> None:
        """Wait until the current device has finished all work handed to it."""
        self.xp.cuda.Device().synchronize()

    def memory(self) -> int:
        """Return the bytes that the memory pool holds: it gives none back, so this is the peak so far."""
        return int(self.xp.get_default_memory_pool().total_bytes())

    def stopwatch(self) -> Callable[[], float]:
        """Record an event in the current stream; the call that stops records another and waits for it."""
        cuda = self.xp.cuda
        start, end = cuda.Event(), cuda.Event()
        start.record()

        def stop() -> float:
            end.record()
            end.synchronize()
            return float(cuda.get_elapsed_time(start, end)) / 1e3

        return stop

    def peak_during(self, call: Callable[[], Any]) -> int:
        """Make the call; return the most bytes of the memory pool in use at once, beyond those before."""
        pool = self.xp.get_default_memory_pool()
        before = int(pool.used_bytes())
        peak = before

        class Watch(self.xp.cuda.MemoryHook):  # type: ignore[misc, name-defined]
            """Looks after every allocation: the pool itself remembers no peak."""

            name = "benchfw_peak"

            def malloc_postprocess(self, **_: Any) -> None:
                nonlocal peak
                peak = max(peak, int(pool.used_bytes()))

        with Watch():
            call()
        return peak - before

    def describe(self) -> Mapping[str, str]:
        """Return the GPU's name and the versions of CuPy, the CUDA runtime and the driver."""
        runtime = self.xp.cuda.runtime
        name = runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"]
        return {
            "device": _text(name),
            "cupy": str(self.xp.__version__),
            "numpy": np.__version__,
            "cuda_runtime": _version(runtime.runtimeGetVersion()),
            "cuda_driver": _version(runtime.driverGetVersion()),
        }
