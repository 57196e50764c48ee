"""The functions of torch under the names of the array API, with the defaults of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

FLOATING = ("zeros", "ones", "empty", "eye", "linspace")
"""Make float64 unless they are given another type; torch's own make float32."""
TYPED = ("zeros_like", "ones_like", "empty_like", "full_like", "astype", "sum", "prod", "mean")
"""Take a type, which may be NumPy's."""


class TorchNamespace(ModuleType):
    """array_api_compat.torch for one device: what is made lies there, and as float64, as NumPy makes it.

    Types may be given as NumPy's or by name. torch's own rules stay where numbers meet arrays: an array of
    integers times 0.5 is float32.
    """

    def __init__(self, device: str) -> None:
        super().__init__("torch")
        import array_api_compat.torch as functions
        import torch

        self.__functions, self._torch, self._device = functions, torch, device
        for name in FLOATING:
            setattr(self, name, self._creator(getattr(functions, name)))
        for name in TYPED:
            setattr(self, name, self._typed(getattr(functions, name)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.__functions, name)
        setattr(self, name, found)  # the next time without this
        return found

    def __reduce__(self) -> tuple[type[TorchNamespace], tuple[str]]:
        return TorchNamespace, (self._device,)

    def dtype_of(self, dtype: Any) -> Any:
        """Return a type of torch: of NumPy's, of a name, or itself; None stays None."""
        if dtype is None or isinstance(dtype, self._torch.dtype):
            return dtype
        return getattr(self._torch, np.dtype(dtype).name)

    def _creator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        device, double, dtype_of = self._device, self._torch.float64, self.dtype_of

        def create(*args: Any, dtype: Any = None, **options: Any) -> Any:
            return function(*args, dtype=dtype_of(dtype) or double, **{"device": device, **options})

        return create

    def _typed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        dtype_of = self.dtype_of

        def call(array: Any, *args: Any, **options: Any) -> Any:
            given = [each if isinstance(each, int | float | bool) else dtype_of(each) for each in args]
            if "dtype" in options:
                options["dtype"] = dtype_of(options["dtype"])
            return function(array, *given, **options)

        return call

    def full(self, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
        """Return an array of one value, of the type that NumPy would give it."""
        kind = self.dtype_of(dtype or np.asarray(fill_value).dtype)
        return self.__functions.full(shape, fill_value, dtype=kind, device=device or self._device)

    def arange(self, *bounds: Any, dtype: Any = None, device: Any = None) -> Any:
        """Return evenly spaced numbers: float64 where a bound is not whole."""
        kind = self.dtype_of(dtype or np.result_type(*map(np.asarray, bounds)))
        return self.__functions.arange(*bounds, dtype=kind, device=device or self._device)

    def asarray(self, values: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
        """Return values as a tensor here; those of NumPy, and numbers, keep NumPy's type."""
        from benchfw_bridges.from_torch.library import as_tensor

        found = as_tensor(values if hasattr(values, "__dlpack__") else np.asarray(values))
        made = found.to(device or self._device, self.dtype_of(dtype) or found.dtype)
        return made.clone() if copy and made is found else made

    def where(self, condition: Any, yes: Any, no: Any, /) -> Any:
        """Return `yes` where the condition holds, else `no`; two numbers make float64."""
        if isinstance(yes, float) and isinstance(no, float):
            yes = self._torch.full((), yes, dtype=self._torch.float64, device=condition.device)
        return self.__functions.where(condition, yes, no)
