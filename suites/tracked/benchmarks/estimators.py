"""Every estimator of the tracked suites: variance, and variance x cost."""

from pathlib import Path

from benchfw_exchange.asv_benchmarks import absent as __getattr__  # noqa: F401 - what this commit does not have is n/a
from benchfw_exchange.asv_benchmarks import method_benchmarks

SUITES = sorted(Path(__file__).parent.parent.glob("*.toml"))

globals().update(method_benchmarks("estimator", SUITES))
