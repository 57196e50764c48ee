"""What every covariance asks of its length."""

from __future__ import annotations

from benchfw import BenchfwError


def check_length(name: str, length: float) -> None:
    """Refuse a length that is not positive."""
    if not 0 < length < float("inf"):
        raise BenchfwError(f"the length of the {name} covariance must be a positive number, not {length}")
