"""Where a run was made."""

from __future__ import annotations

from benchfw.provenance import Run
from benchfw.report.text import plural


def describe_machine(run: Run) -> str:
    """Return the processor, its cores, and the devices that a run had."""
    environment = run.environment
    machine = environment.machine
    found = [machine.processor, plural(machine.cores, "core")]
    found += [each["device"] for each in environment.backends.values() if "device" in each]
    return ", ".join(dict.fromkeys(filter(None, found)))
