"""Bodies of kernels for torch, where the portable ones compute with words of 64 bits without a sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels import normals, rademacher


@normals.on("torch")
def _normals(words: Any, *, dtype: Any = np.float64) -> Any:
    return get_backend("torch").normals(words, dtype)


@normals.on("torch-cuda")
def _normals_cuda(words: Any, *, dtype: Any = np.float64) -> Any:
    return get_backend("torch-cuda").normals(words, dtype)


@rademacher.on("torch")
@rademacher.on("torch-cuda")
def _rademacher(words: Any, count: int, dtype: Any = np.float64) -> Any:
    import torch

    if not 0 <= count <= 64 * words.shape[0]:
        raise BenchfwError(f"{words.shape[0]} words are too few for {count} signs; give (count + 63) // 64")
    places = torch.arange(64, device=words.device)
    bits = (words.view(torch.int64)[:, None] >> places) & 1  # the sign's bit fills what is masked away
    return (2 * bits - 1).reshape(-1)[:count].to(getattr(torch, np.dtype(dtype).name))
