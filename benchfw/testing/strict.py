"""A backend of array-api-strict: its arrays refuse NumPy's as those of a GPU do, on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchfw.backends import Backend, Rng, get_backend
from benchfw.testing.check import NotApplicable


class StrictBackend(Backend):
    """Arrays that know the array-API standard and nothing else."""

    name = "array-api-strict"

    def __init__(self) -> None:
        try:
            import array_api_strict
        except ImportError:
            raise NotApplicable("array-api-strict is not installed; pip install array-api-strict") from None
        self.xp = array_api_strict

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a strict array."""
        wanted = getattr(self.xp, np.dtype(dtype).name) if isinstance(dtype, type | np.dtype) else dtype
        return self.xp.asarray(np.asarray(values), dtype=wanted)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return a strict array as a NumPy array."""
        return np.asarray(values)

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words of a block."""
        return self.asarray(get_backend("numpy").bits(seed, stream, block, start, count))

    def synchronize(self) -> None:
        """Return at once."""

    def memory(self) -> int:
        """Return 0: nobody asks."""
        return 0

    def describe(self) -> Mapping[str, str]:
        """Return the version."""
        return {"device": "array-api-strict", "version": self.xp.__version__}

    def rng(self, seed: int) -> Rng:
        """Return the generator of this seed."""
        return StrictRng(self, seed)


class StrictRng(Rng):
    """NumPy's numbers as strict arrays; Python's numbers stay what they are."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in {
            "standard_normal",
            "random",
            "integers",
            "rademacher",
            "permutation",
            "choice",
            "normal",
        }:
            return found
        backend = super().__getattribute__("backend")

        def drawn(*args: Any, **options: Any) -> Any:
            host = Rng(get_backend("numpy"), self.seed, self.stream, self.block)
            values = getattr(host, name)(*args, **options)
            self.block = host.block
            return backend.asarray(values) if isinstance(values, np.ndarray) else values

        return drawn
