"""NumPy on the host: the reference that every other backend must equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchfw.backends.backend import Backend, get_backend, owner_of
from benchfw.backends.normals import box_muller_on_host
from benchfw.backends.rng import Rng, philox_words
from benchfw.system import peak_memory, processor


class NumpyBackend(Backend):
    """Arrays in the host's memory."""

    name = "numpy"
    xp = np

    def owns(self, array: Any) -> bool:
        """Return whether it is an array of NumPy or of a class derived from it; NumPy's scalars are not."""
        return isinstance(array, np.ndarray)

    def asarray(self, values: Any, dtype: Any = None) -> np.ndarray:
        """Return the values as a NumPy array; one of another backend is copied to the host."""
        if not isinstance(values, np.ndarray):
            owner = owner_of(values)
            if owner is not None:
                values = get_backend(owner).to_numpy(values)
        return np.asarray(values, dtype=dtype)

    def read_only(self, array: Any) -> Any:
        """Return a view that raises when written."""
        view = array.view()
        view.flags.writeable = False
        return view

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return the array itself."""
        return np.asarray(values)

    def sparse_rows(self, matrix: Any) -> Any:
        """Return a sparse matrix of SciPy as compressed sparse rows."""
        return matrix.tocsr()

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> np.ndarray:
        """Return words start … start+count-1 of a block of the stream (seed, stream), as uint64."""
        return philox_words(seed, stream, block, start, count)

    def normals(self, words: Any, dtype: Any) -> np.ndarray:
        return box_muller_on_host(words, dtype)

    def rng(self, seed: int) -> Rng:
        """Return the generator of this seed."""
        return Rng(self, seed)  # type: ignore[arg-type]  # xp is the same for all

    def synchronize(self) -> None:
        """Return at once: NumPy has finished when its calls return."""

    def memory(self) -> int:
        """Return the peak resident set of this process, in bytes."""
        return peak_memory()

    def peak_during(self, call: Callable[[], Any]) -> int:
        """Make the call; return the most bytes it held at once, as NumPy and Python tell tracemalloc."""
        import tracemalloc

        tracemalloc.start()
        try:
            call()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    def describe(self) -> Mapping[str, str]:
        """Return the CPU's name, the versions of NumPy and SciPy, and the BLAS that NumPy was built with."""
        from importlib import metadata

        config: Any = np.show_config(mode="dicts")
        blas = config.get("Build Dependencies", {}).get("blas", {})
        return {
            "device": processor(),
            "numpy": np.__version__,
            "scipy": metadata.version("scipy"),
            "blas": f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip(),
        }
