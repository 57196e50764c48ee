"""What benchfw itself costs: CPU of a trial that does nothing, of starting, of a large report."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))  # the scripts that measure it

import overhead
import report_speed
import startup

timeout = 300


def track_overhead() -> float:
    """Return what the harness spends on a trial."""
    return overhead.overhead(trials=300)[0]


def track_start(command: str) -> float:
    """Return what a command of no work takes."""
    return startup.ratios([command], rounds=5)[command]


def track_report() -> float:
    """Return what the report of 200,000 records takes."""
    return report_speed.measure(browser=False)["CPU seconds"]


track_overhead.unit = "ms of CPU a trial"
track_start.unit = "x import of click, pluggy, numpy"
track_start.params = startup.COMMANDS
track_start.param_names = ["command"]
track_report.unit = "s of CPU"
