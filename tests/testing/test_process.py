"""Checks in a process of their own: a plugin that kills it has failed that check, and the rest go on."""

from __future__ import annotations

import psutil
import pytest

from benchfw.errors import PluginError
from benchfw.testing import CheckStatus, Effort, run_checks
from benchfw.testing import process as checks_outside
from benchfw.testing.checks import CHECKS
from benchfw.testing.process import CheckProcess, SubjectName, WorkerGone, read_result

DEADLY = '''
import ctypes
import os
import signal
import sys
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Healthy:
    """Gradient descent."""
    step: float = 0.1
    """Step length."""
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        for step in range(10**9):
            yield x
            if step > 9:  # not before the later checks
                self.die()
            x = problem.project(x - self.step * problem.grad(x))

    def die(self):
        """Stay alive."""

class Segfaults(Healthy):
    def die(self):
        ctypes.string_at(0)

class Exits(Healthy):
    def die(self):
        os._exit(3)

class Interrupts(Healthy):
    def die(self):
        raise KeyboardInterrupt

class Deaf(Healthy):
    def die(self):
        lock = ctypes.create_string_buffer(64)
        for _ in range(2):
            ctypes.PyDLL(None).pthread_mutex_lock(lock)

class Garbles(Healthy):
    def die(self):
        for number in range(3, 1024):
            try:
                os.write(number, b"nonsense\\n")
            except OSError:
                pass

class Expected(Segfaults):
    expected_failures = {"improves": "not on this machine"}

@hookimpl
def register_optimizers(register):
    for each in (Healthy, Segfaults, Exits, Interrupts, Deaf, Garbles, Expected):
        register(each.__name__.lower(), each)
'''
ENDINGS = {
    "segfaults": "its process was killed by SIGSEGV in deadly.py, line ",
    "exits": "its process ended with exit code 3",
    "interrupts": "it raised KeyboardInterrupt",
    "garbles": "its process sent an answer that makes no sense",
}


@pytest.fixture
def deadly(plugin_file):
    effort = Effort(seconds=0.05, iterations=20)
    with CheckProcess(str(plugin_file(DEADLY, "deadly.py")), effort=effort) as process:
        yield process


@pytest.mark.thorough
def test_a_plugin_that_kills_its_process_has_failed_that_check_and_the_rest_go_on(deadly):
    subjects = [each for each in deadly.subjects if each.name != "deaf"]
    results = run_checks(subjects, "improves", deadly.run_check)
    found = {each.subject.removeprefix("optimizer "): each for each in results}
    for name, sentence in ENDINGS.items():
        assert found[name].status is CheckStatus.FAILED, name
        assert sentence in found[name].detail
    assert found["healthy"].status is CheckStatus.PASSED
    assert found["expected"].status is CheckStatus.EXPECTED
    assert found["expected"].detail == "not on this machine"


@pytest.mark.posix
def test_a_plugin_that_hangs_in_compiled_code_is_stopped_and_its_line_named(plugin_file, monkeypatch):
    monkeypatch.setattr(checks_outside, "GRACE_SECONDS", 0.5)
    effort = Effort(seconds=0.05, iterations=20, timeout=3.0)
    with CheckProcess(str(plugin_file(DEADLY, "deadly.py")), effort=effort) as process:
        (found,) = run_checks([SubjectName("optimizer", "deaf")], "improves", process.run_check)
    assert found.status is CheckStatus.FAILED
    assert found.detail.startswith("its process was stopped after 3 s in deadly.py, line ")


def test_a_method_that_dies_is_not_charged_to_the_one_beside_it(deadly):
    healthy = SubjectName("optimizer", "healthy")
    found = list(run_checks([healthy], None, deadly.run_check))
    assert {each.status for each in found} == {CheckStatus.PASSED, CheckStatus.SKIPPED}
    assert [each.status for each in found if each.check.name == "remembers-nothing"] == [CheckStatus.PASSED]


def test_one_process_serves_until_it_dies_and_none_is_left(deadly):
    def workers():
        found = psutil.Process().children()
        return {each.pid for each in found if "benchfw.testing.running" in each.cmdline()}

    before = workers()
    for _ in run_checks([SubjectName("optimizer", "healthy")], "improves", deadly.run_check):
        assert workers() == before
    list(run_checks([SubjectName("optimizer", "exits")], "improves", deadly.run_check))
    assert not before & workers()
    deadly.close()
    assert not workers()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import os\nos._exit(5)\n", "cannot be loaded: its process ended with exit code 5"),
        ("import ctypes\n\nctypes.string_at(0)\n", "its process was killed by SIGSEGV in last.py, line 3"),
        ("1 / 0\n", "cannot be loaded: ZeroDivisionError: division by zero (last.py, line 1)"),
        ("while True: pass\n", "its process was stopped after 0.5 s, while it was imported; look for a loop"),
    ],
)
def test_a_target_that_dies_while_it_is_loaded_is_an_error(plugin_file, monkeypatch, text, sentence):
    if "while" in text:
        monkeypatch.setattr(checks_outside, "LOADING_SECONDS", 0.5)
    with pytest.raises(PluginError) as caught:
        CheckProcess(str(plugin_file(text, "last.py")))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "message", [["ended"], ["ended", "perhaps", "", "", []], ["ended", "passed", "", "", 3]], ids=str
)
def test_an_answer_that_makes_no_sense_is_none(message):
    with pytest.raises(WorkerGone, match="makes no sense"):
        read_result(SubjectName("optimizer", "healthy"), CHECKS[0], message)
