"""The time limit of a check: it ends what never ends, and leaves the alarms of others alone."""

from __future__ import annotations

import contextlib
import signal
import threading

import pytest

from benchfw.testing.check import OutOfTime, restart_limit, time_limit


def loop():
    while True:
        with contextlib.suppress(Exception):  # as a stranger's code may
            while True:
                pass


def nested_loops():
    with pytest.raises(OutOfTime, match=r"^0\.05 s$"), time_limit(0.05):
        loop()
    loop()


def test_a_loop_without_end_is_stopped_even_where_it_catches_every_exception():
    with pytest.raises(OutOfTime, match=r"^0\.05 s$"), time_limit(0.05):
        loop()


@pytest.mark.posix
def test_a_block_that_ends_in_time_leaves_nothing_behind():
    with time_limit(1e300):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_limit_begins_anew_after_one_within_it():
    with pytest.raises(OutOfTime, match=r"^0\.2 s$"), time_limit(0.2):
        nested_loops()


def test_where_the_system_has_no_alarm_a_loop_is_stopped_all_the_same(monkeypatch):
    monkeypatch.delattr(signal, "setitimer", raising=False)
    with pytest.raises(OutOfTime, match=r"^0\.2 s$"), time_limit(0.2):
        nested_loops()
    with time_limit(60):
        pass
    assert not any(
        isinstance(each, threading.Timer) and not each.finished.is_set() for each in threading.enumerate()
    )


@pytest.mark.posix
def test_a_limit_that_begins_anew_has_its_whole_length_before_it():
    with time_limit(1000):
        signal.setitimer(signal.ITIMER_REAL, 5)
        restart_limit()
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 5
    restart_limit()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.posix
def test_the_alarm_of_somebody_else_is_kept():
    heard = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: heard.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with time_limit(60):
            pass
        assert heard.wait(10)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.posix
def test_a_thread_has_no_limit_and_runs():
    done = []

    def work():
        with time_limit(60):
            done.append(signal.getitimer(signal.ITIMER_REAL)[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [0]
