"""What methods answer in a new process: a method that remembers earlier trials answers otherwise there.

`python -m benchfw.testing.fresh` reads a target and a problem's name for each of its methods from standard
input, and writes the answers, both as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np

from benchfw.loading import fault_text
from benchfw.testing.arrays import numbers, seen
from benchfw.testing.check import METHODS
from benchfw.testing.limit import FAULTS, time_limit
from benchfw.testing.meeting import sampled
from benchfw.testing.subject import Setting, Subject, Target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfw.backends import Backend

SECONDS = 300


def outputs(subject: Subject, setting: Setting, backend: Backend | None = None) -> NDArray[np.float64]:
    """Return the first answers of an optimizer, or one draw of an estimator, as numbers."""
    problem = setting.build(backend)
    found = sampled(subject, problem)
    if subject.kind == "estimator":
        return numbers(problem, found[0])
    return np.concatenate([seen(problem, each) for each in found])


def answers_in_a_new_process(target: Target) -> dict[str, list[float] | str]:
    """Return the outputs of every method of a target on the last problem that it meets, or its fault there.

    Methods that do not run here either are left out, and take none of the time of the one that is checked.
    """
    wanted, seconds = {}, target.effort.timeout
    for subject in target.subjects:
        if subject.kind in METHODS:
            with contextlib.suppress(*FAULTS), time_limit(seconds):
                wanted[str(subject)] = subject.need_settings()[-1].name
    request = {"target": target.name, "plugins": target.plugins, "wanted": wanted, "seconds": seconds}
    with time_limit(SECONDS):
        done = subprocess.run(
            [sys.executable, "-m", "benchfw.testing.fresh"],
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
    from benchfw.testing.target import subjects_of

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
                    found[str(subject)] = outputs(subject, setting).tolist()
            except FAULTS as fault:
                found[str(subject)] = f"it raised {fault_text(fault)}"
    print(json.dumps(found))  # after whatever the plugins print


if __name__ == "__main__":
    main()
