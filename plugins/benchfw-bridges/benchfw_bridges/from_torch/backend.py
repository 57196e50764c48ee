"""PyTorch as a backend: `torch` on the CPU, `torch-cuda` on an NVIDIA GPU.

Random numbers are those of every backend: made by NumPy, because torch cannot shift or add 64-bit words.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from benchfw import Backend, Unavailable
from benchfw.backends import Device, get_backend, owner_of
from benchfw.errors import BackendUnavailable
from benchfw_bridges.from_torch.library import as_tensor, import_torch
from benchfw_bridges.from_torch.namespace import TorchNamespace

_VISIBLE = "CUDA_VISIBLE_DEVICES"


class TorchBackend(Backend):
    """Tensors in the host's memory."""

    name = "torch"
    draws_on_host = True
    _place = "cpu"

    def __init__(self) -> None:
        """Import torch; BackendUnavailable says what is missing."""
        try:
            self._torch = import_torch()
        except Unavailable as fault:
            raise BackendUnavailable(str(fault)) from None
        import_module("benchfw_bridges.from_torch.kernels")  # which adds their bodies
        self.xp = TorchNamespace(self._place)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return get_backend, (self.name,)  # a module cannot be pickled

    def owns(self, array: Any) -> bool:
        """Return whether it is a tensor on this device."""
        return isinstance(array, self._torch.Tensor) and array.device.type == self._place

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a tensor here; on the CPU it shares the memory of an array of NumPy."""
        if not isinstance(values, self._torch.Tensor | np.ndarray):
            owner = owner_of(values)
            # an array on a GPU stays there: another library's memory is as good as torch's own
            if owner is not None and not (self.on_device and hasattr(values, "__dlpack__")):
                values = get_backend(owner).to_numpy(values)
        return self.xp.asarray(values, dtype=dtype)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return the numbers as an array of NumPy; on the CPU it shares the tensor's memory."""
        if not isinstance(values, self._torch.Tensor):
            return np.asarray(values)
        host: np.ndarray = values.detach().cpu().numpy()
        return host

    def sparse_rows(self, matrix: Any) -> Any:
        """Return a sparse matrix of SciPy as compressed sparse rows of torch."""
        rows = matrix.tocsr()
        parts = (as_tensor(each) for each in (rows.indptr, rows.indices, rows.data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that such tensors may change in a later version
            return self._torch.sparse_csr_tensor(*parts, size=rows.shape, device=self._place)

    def normals(self, words: Any, dtype: Any) -> Any:
        """Return the normals of these words, made on the host."""
        wanted = str(dtype).rpartition(".")[2] if isinstance(dtype, self._torch.dtype) else dtype
        return self.asarray(get_backend("numpy").normals(self.to_numpy(words), wanted))

    def synchronize(self) -> None:
        """Return at once: on the CPU torch has finished when its calls return."""

    def memory(self) -> int:
        """Return the peak resident set of this process, in bytes."""
        return get_backend("numpy").memory()

    def describe(self) -> Mapping[str, str]:
        """Return the CPU's name and the versions of torch and NumPy."""
        device = get_backend("numpy").describe()["device"]
        return {"device": device, "torch": str(self._torch.__version__), "numpy": np.__version__}


class TorchCudaBackend(TorchBackend):
    """Tensors in the memory of the current CUDA device."""

    name = "torch-cuda"
    on_device = True
    _place = "cuda"

    def __init__(self) -> None:
        """Make one array on the device; BackendUnavailable says what is missing."""
        super().__init__()
        version = self._torch.__version__
        if self._torch.version.cuda is None:
            raise BackendUnavailable(f"torch-cuda is not available: torch {version} was built without CUDA")
        if not self._torch.cuda.is_available():
            raise BackendUnavailable(f"torch-cuda is not available: torch {version} finds no driver or GPU")
        try:
            self.xp.zeros(1)
            self.synchronize()
        except RuntimeError as fault:
            first = str(fault).strip().splitlines()[0]
            raise BackendUnavailable(
                f"torch-cuda is not available: torch {version} cannot use the GPU ({first})"
            ) from None

    def devices(self) -> tuple[Device, ...]:
        """Return the GPUs here of the first one's model, numbered as CUDA_VISIBLE_DEVICES numbers them."""
        count = self._torch.cuda.device_count()
        asked = os.environ.get(_VISIBLE)
        numbers = [each.strip() for each in asked.split(",")][:count] if asked else map(str, range(count))
        names = [self._torch.cuda.get_device_name(position) for position in range(count)]
        return tuple(
            Device(number, name, _VISIBLE)
            for number, name in zip(numbers, names, strict=True)
            if name == names[0]
        )

    def synchronize(self) -> None:
        """Wait until the current device has finished all work handed to it."""
        self._torch.cuda.synchronize()

    def memory(self) -> int:
        """Return the most bytes that torch's allocator has held so far."""
        return int(self._torch.cuda.max_memory_reserved())

    def stopwatch(self) -> Callable[[], float]:
        """Record an event in the current stream; the call that stops records another and waits for it."""
        start, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()

        def stop() -> float:
            end.record()
            end.synchronize()
            return float(start.elapsed_time(end)) / 1e3

        return stop

    def peak_during(self, call: Callable[[], Any]) -> int:
        """Make the call; return the most bytes of tensors at once, beyond those before."""
        cuda = self._torch.cuda
        before = int(cuda.memory_allocated())
        cuda.reset_peak_memory_stats()
        call()
        return int(cuda.max_memory_allocated()) - before

    def describe(self) -> Mapping[str, str]:
        """Return the GPU's name and the versions of torch, NumPy and the CUDA runtime."""
        return {
            "device": str(self._torch.cuda.get_device_name()),
            "torch": str(self._torch.__version__),
            "numpy": np.__version__,
            "cuda_runtime": str(self._torch.version.cuda),
        }
