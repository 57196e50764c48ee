"""JAX in a trial: with the threads of the trial, in the precision of its arrays, on its device."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np

from benchfw import Array, Backend, Unavailable

DOUBLE = 8  # bytes of a number
ABSENT = "{} is not installed; pip install 'benchfw-bridges[jax]'"


class Runtime:
    """Arrays of a backend as arrays of JAX, and back, in the precision of an array `like`.

    Precision is set by a context around each call, not for the process: where trials share one, none sees
    that of another.
    """

    def __init__(self, backend: Backend, like: Array) -> None:
        self.jax = start_jax()
        self._backend = backend
        self._double = backend.to_numpy(like).dtype.itemsize == DOUBLE
        self._host = backend.library == "numpy"
        self._device = self.jax.devices(None if backend.on_device else "cpu")[0]

    def precision(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which JAX keeps 64 bits if the arrays have them, and 32 otherwise."""
        context: contextlib.AbstractContextManager[None] = self.jax.enable_x64(self._double)
        return context

    def put(self, array: Array) -> Any:
        """Return an array of NumPy or of the backend as one of JAX, on the device of the backend."""
        if isinstance(array, np.ndarray):
            return self.jax.device_put(array, self._device)
        return self.argument(array)

    def argument(self, array: Array) -> Any:
        """Return an array of the backend as an argument of a compiled function; nothing is copied here."""
        return array if self._host or array is None else self.jax.numpy.from_dlpack(array)

    def get(self, array: Any) -> Array:
        """Return an array of JAX as one of the backend, when it has been computed; nothing is copied."""
        if self._host:
            return np.asarray(array)
        return self._backend.xp.from_dlpack(array.block_until_ready())


def import_jax() -> Any:
    """Return jax, not started: it has no threads yet, and its process can be forked."""
    try:
        import jax
        import jax.flatten_util
    except ImportError as fault:
        raise Unavailable(ABSENT.format("jax")) from fault
    return jax


def import_optax() -> Any:
    """Return optax."""
    import_jax()
    try:
        import optax
    except ImportError as fault:
        raise Unavailable(ABSENT.format("optax")) from fault
    return optax


def start_jax() -> Any:
    """Return jax, started with as many threads as a trial has; the memory of a device is left to others.

    XLA reads the number of its threads from the variable NPROC when it starts, and knows nothing of those
    that other libraries read. Wherever there is a GPU it would take three quarters of its memory, for
    computations on the host too. Calls compute before they return: nothing goes on while the clock stands,
    and a small step does not wait for another thread.
    """
    jax = import_jax()
    jax.config.update("jax_cpu_enable_async_dispatch", False)  # without effect where JAX has started
    wanted = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdecimal():
        wanted["NPROC"] = threads
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        with contextlib.suppress(RuntimeError):  # where JAX_PLATFORMS leaves out the CPU
            jax.devices("cpu")
    finally:
        for name in added:
            del os.environ[name]
    return jax
