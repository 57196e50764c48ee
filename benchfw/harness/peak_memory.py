"""The most memory that this process held since it was last told to forget; Linux keeps that."""

from __future__ import annotations

from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def forget_peak() -> bool:
    """Make what is held now the peak; return whether this system can."""
    try:
        CLEAR.write_text("5", encoding="ascii")  # "reset the peak resident set size", proc(5)
    except OSError:
        return False
    return True


def peak_memory() -> int:
    """Return the peak of the resident set in bytes."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])
