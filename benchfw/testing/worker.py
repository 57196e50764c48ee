"""The worker process of `benchfw check`: loads a target and runs its checks, one after the other, as asked.

Requests are lines of JSON: first what to load, then the number of a subject and the name of a check. Answers
are lines too, each a list that begins with a word:

- `found`, process id, kinds and names of the subjects; or `fault`, a sentence: once;
- `began`, the reason for which the check is declared to fail, if it is;
- `limit`, seconds: whenever a limit of time begins;
- `ended`, status, detail, advice, warnings.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn

from benchfw.errors import BenchfwError
from benchfw.harness.workers.deaths import OUT_OF_MEMORY
from benchfw.harness.workers.messages import send
from benchfw.loading import fault_text
from benchfw.testing.check import watch_limits
from benchfw.testing.checks import checks_for
from benchfw.testing.problems import Effort
from benchfw.testing.running import CheckResult, CheckStatus, run_check
from benchfw.testing.subject import Subject, subjects_of


def work(requests: int, replies: int) -> NoReturn:
    """Serve on two file descriptors, then end the process."""
    code = 1
    try:
        with os.fdopen(requests, "rb") as asked:
            _serve(asked, replies)
        code = 0
    except BrokenPipeError:
        pass  # the parent is gone
    except MemoryError:
        code = OUT_OF_MEMORY
    except BaseException:  # noqa: BLE001 - no key of the user's: this process has its own session
        traceback.print_exc()
    os._exit(code)  # at once: a thread that a plugin left behind would be waited for


def _serve(requests: IO[bytes], replies: int) -> None:
    owner = os.getpid()

    def tell(kind: str, *content: Any) -> None:
        if os.getpid() != owner:
            os._exit(1)  # a child that the plugin forked and let run into here
        send(replies, kind, *content)

    request = json.loads(requests.readline())
    faulthandler.enable(request["log"])
    _limit_memory()
    watch_limits(lambda seconds: tell("limit", seconds))
    sys.path[:] = request["path"]
    try:
        subjects = subjects_of(request["target"], request["plugins"], Effort(**request["effort"]))
    except BenchfwError as fault:
        tell("fault", str(fault))
        return
    tell("found", owner, [[each.kind, each.entry.name] for each in subjects])
    for line in requests:
        number, name = json.loads(line)
        _answer(subjects[number], name, tell)


def _answer(subject: Subject, name: str, tell: Callable[..., None]) -> None:
    (check,) = (each for each in checks_for(subject.kind) if each.name == name)
    tell("began", subject.expected_failures.get(name))
    with warnings.catch_warnings(record=True) as caught:  # they would stand between the lines
        try:
            result = run_check(subject, check)
        except BaseException as fault:  # noqa: BLE001 - beyond what the checks expect of a plugin
            result = CheckResult(str(subject), check, CheckStatus.FAILED, f"it raised {fault_text(fault)}")
    warned = [
        f"{each.category.__name__}: {each.message} ({Path(each.filename).name}, line {each.lineno})"
        for each in caught
    ]
    tell("ended", result.status, result.detail, result.advice, warned)


def _limit_memory() -> None:
    """Refuse to allocate more than there is: MemoryError says where, the end of the process does not."""
    import psutil

    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (int(psutil.virtual_memory().available), most))
