"""What methods answer in a new process: a method that remembers earlier trials answers otherwise there.

`python -m benchfw.testing.new_process` reads a target and a problem's name for each of its methods from
standard input, and writes the answers, both as JSON.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys

from benchfw.loading import fault_text
from benchfw.testing.check import METHODS
from benchfw.testing.limit import FAULTS, time_limit
from benchfw.testing.subject import CheckTarget
from benchfw.testing.target import subjects_of

LONGEST = 300  # seconds for all methods of a target


@functools.lru_cache(maxsize=1)  # all subjects of a target share the process
def numbers_in_new_process(target: CheckTarget) -> dict[str, list[float] | str]:
    """Return what every method of a target answers on the last problem that it meets, or its fault there.

    Methods that do not run here either are left out, and take none of the time of the one that is checked.
    """
    wanted, seconds = {}, target.effort.timeout
    for subject in target.subjects:
        if subject.kind in METHODS:
            with contextlib.suppress(*FAULTS), time_limit(seconds):
                wanted[str(subject)] = subject.need_settings()[-1].name
    request = {"target": target.name, "plugins": target.plugins, "wanted": wanted, "seconds": seconds}
    with time_limit(LONGEST):
        done = subprocess.run(
            [sys.executable, "-m", "benchfw.testing.new_process"],
            input=json.dumps(request),
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"a new process could not run it: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, list[float] | str] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    found: dict[str, list[float] | str] = {}
    # backwards: what one method leaves behind for the next shows too
    for subject in reversed(subjects_of(request["target"], request["plugins"])):
        name = request["wanted"].get(str(subject))
        if name is not None:
            own, others = subject.candidates()
            setting = next(each for each in (*own, *others) if each.name == name)
            try:
                with subject.registry.activate(), time_limit(request["seconds"]):
                    found[str(subject)] = subject.sample_numbers(setting).tolist()
            except FAULTS as fault:
                found[str(subject)] = f"it raised {fault_text(fault)}"
    print(json.dumps(found))  # after whatever the plugins print


if __name__ == "__main__":
    main()
