"""What methods answer in a new process: a method that remembers earlier trials answers otherwise there.

`python -m benchfw.testing.new_process` loads a target and then answers questions, each the names of a method
and of a problem, from a fork of itself in which nothing has run. Requests and answers are lines of JSON.
Where a library has started threads, a fork could hang: then it answers once, and ends.
"""

from __future__ import annotations

import functools
import json
import os
import select
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import IO, Any

from benchfw.harness.inputs import THREAD_VARIABLES
from benchfw.harness.workers.deaths import describe_end
from benchfw.loading import fault_text
from benchfw.measure.files import CheckFiles
from benchfw.system import CAN_FORK_TRIALS, count_threads, set_path_of_programs
from benchfw.testing.check import FAULTS, time_limit
from benchfw.testing.subject import CheckTarget, Subject, subjects_of

LONGEST = 300  # seconds for an answer, the import of the target included
GRACE_SECONDS = 3.0  # for an alarm to be heard; compiled code does not hear it


def numbers_in_new_process(subject: Subject, problem: str) -> list[float] | str:
    """Return what a method answers on a problem, by its name, or its fault there."""
    with time_limit(LONGEST):
        return _process_of(subject.target).ask(str(subject), problem)


@functools.lru_cache(maxsize=1)  # all subjects of a target share it
def _process_of(target: CheckTarget) -> NewProcess:
    return NewProcess(target)


class NewProcess:
    """A process that has loaded a target and answers for it; another takes its place when it ends."""

    def __init__(self, target: CheckTarget) -> None:
        self._request = {
            "target": target.name,
            "plugins": target.plugins,
            "seconds": target.effort.timeout,
            "path": sys.path,
            "path_of_programs": os.environ.get("PYTHONPATH", ""),
        }
        self._process: subprocess.Popen[str] | None = None

    def ask(self, subject: str, problem: str) -> list[float] | str:
        """Return the numbers, or how the method failed."""
        process = self._process or self._start()
        self._process = None  # until it has answered
        try:
            print(json.dumps([subject, problem]), file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline() or "{}") if process.stdout else {}
        except (BrokenPipeError, ValueError):
            answer = {}
        except BaseException:  # out of time
            _end(process)
            raise
        if answer.get("goes_on"):
            self._process = process
        elif "found" in answer:
            _end(process)
        else:
            return f"its process {describe_end(process.wait())}"
        found: list[float] | str = answer["found"]
        return found

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchfw.testing.new_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # one thread: a process with more cannot be forked
            env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONPATH": _home()},
            text=True,
        )
        weakref.finalize(self, _end, process)
        print(json.dumps(self._request), file=process.stdin, flush=True)
        return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()  # closes the pipes and waits


def _home() -> str:
    return str(Path(__file__).parents[2])


def main() -> None:
    """Answer until the parent closes the pipe."""
    request = json.loads(sys.stdin.readline())
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # for whatever the plugins print
        sys.path[:] = request["path"]
        set_path_of_programs(request["path_of_programs"])
        subjects = {str(each): each for each in subjects_of(request["target"], request["plugins"])}
        for line in sys.stdin:
            name, problem = json.loads(line)
            subject, seconds = subjects[name], request["seconds"]
            subject.candidates()  # imports, once for all forks
            alone = not CAN_FORK_TRIALS or count_threads() > 1
            found = _answer(subject, problem, seconds) if alone else _answer_forked(subject, problem, seconds)
            _send(replies, {"found": found, "goes_on": not alone})
            if alone:
                return


def _send(replies: IO[str], message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


def _answer(subject: Subject, problem: str, seconds: float) -> list[float] | str:
    own, others = subject.candidates()
    setting = next(each for each in (*own, *others) if each.name == problem)
    try:
        with subject.registry.activate(), CheckFiles(), time_limit(seconds):
            found: list[float] = subject.sample_numbers(setting).tolist()
    except FAULTS as fault:
        return f"it raised {fault_text(fault)}"
    return found


def _answer_forked(subject: Subject, problem: str, seconds: float) -> list[float] | str:
    """Return the answer of a child of this process, or how the child ended."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(write, "w", encoding="utf-8") as replies:
            _send(replies, {"found": _answer(subject, problem, seconds)})
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as replies:
        if not select.select([replies], [], [], seconds + GRACE_SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"it was stopped after {seconds:g} s"
        text = replies.read()
    _, status = os.waitpid(child, 0)
    if not text.endswith("\n"):
        return f"its process {describe_end(os.waitstatus_to_exitcode(status))}"
    found: list[float] | str = json.loads(text)["found"]
    return found


if __name__ == "__main__":
    main()
