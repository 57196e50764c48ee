"""Every registered kernel on every backend: time and peak memory."""

from benchfw_exchange.asv_benchmarks import absent as __getattr__  # noqa: F401 - what this commit does not have is n/a
from benchfw_exchange.asv_benchmarks import kernel_benchmarks

globals().update(kernel_benchmarks())
