"""The import of PyTorch, and what its arrays share with those of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw import Unavailable

INSTALL = "pip install 'benchfw-bridges[torch]'"


def import_torch() -> Any:
    """Return the package; Unavailable says what to install."""
    try:
        import torch
    except (ImportError, OSError) as fault:
        if isinstance(fault, ModuleNotFoundError) and fault.name == "torch":
            raise Unavailable(f"torch is not installed; {INSTALL}") from None
        first = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
        raise Unavailable(f"torch is installed but cannot be imported ({first}); {INSTALL}") from None
    return torch


def as_tensor(array: Any) -> Any:
    """Return an array of any library as a tensor that shares its memory.

    NumPy's arrays that cannot be written, and those with negative strides, are copied: torch has neither.
    """
    import torch

    if isinstance(array, torch.Tensor):
        return array
    if isinstance(array, np.ndarray):
        if not array.flags.writeable or any(stride < 0 for stride in array.strides):
            array = array.copy()
        return torch.from_numpy(array)
    return torch.from_dlpack(array)
