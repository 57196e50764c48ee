"""What a GPU does during a call: its kernels, copies and fills, as PyTorch's profiler sees them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchfw.errors import BenchfwError

KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "fill"}  # categories of a trace
ON_DEVICE = "DtoD"  # in the name of a copy that does not leave the device


@dataclass(frozen=True)
class DeviceEvent:
    """A kernel, a copy to or from the host, or a fill; a copy within the device counts as a kernel."""

    kind: str
    name: str
    start: float
    """Seconds, on the device's clock."""
    seconds: float


def trace_cuda(call: Callable[[], Any]) -> tuple[DeviceEvent, ...]:
    """Make the call, which waits for the device before it returns; return what the device did, in order."""
    try:
        from torch import profiler
    except ImportError:
        raise BenchfwError("counting launches needs PyTorch's profiler; pip install torch") from None
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        return read_trace(json.loads(path.read_text(encoding="utf-8"))["traceEvents"])


def read_trace(entries: list[dict[str, Any]]) -> tuple[DeviceEvent, ...]:
    """Return the events of a device from a trace in Chrome's format, whose times are microseconds."""
    found = [
        DeviceEvent(_kind_of(entry), str(entry["name"]), entry["ts"] / 1e6, entry["dur"] / 1e6)
        for entry in entries
        if entry.get("cat") in KINDS
    ]
    return tuple(sorted(found, key=lambda event: event.start))


def _kind_of(entry: dict[str, Any]) -> str:
    kind = KINDS[entry["cat"]]
    return "kernel" if kind == "copy" and ON_DEVICE in entry["name"] else kind
