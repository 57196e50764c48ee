"""Where a run was made, and the command that makes it again."""

from __future__ import annotations

import shlex

from benchfw.provenance import Run
from benchfw.report.text import plural


def rerun_command(suite: str, run: Run | None) -> str:
    """Return the command that makes a run again."""
    words = ["benchfw", "run", suite]
    if run is not None:
        changes, environment = run.environment.changes, run.environment
        words += ["--quick"] * changes.quick
        words += ["--only", changes.only] if changes.only else []
        words += [word for name in changes.backends for word in ("--backend", name)]
        words += ["--repetitions", str(changes.repetitions)] if changes.repetitions else []
        words += ["--threads", str(environment.threads)] if environment.threads != 1 else []
    return shlex.join(words)


def describe_machine(run: Run) -> str:
    """Return the processor, its cores, and the devices that a run had."""
    environment = run.environment
    machine = environment.machine
    found = [machine.processor, plural(machine.cores, "core")]
    found += [each["device"] for each in environment.backends.values() if "device" in each]
    return ", ".join(dict.fromkeys(filter(None, found)))
