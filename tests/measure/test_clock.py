"""The clock runs inside the method only, and waits for the device."""

import math
import time

import pytest

from benchfw.measure import clock as clock_module
from benchfw.measure.clock import Clock, DeviceClock, count_cpu_seconds

pytestmark = pytest.mark.usefixtures("slept")


class Device:
    """A backend whose queued work takes a while to finish."""

    def __init__(self):
        self.queued = 0.0

    def synchronize(self):
        time.sleep(self.queued)
        self.queued = 0.0


def test_the_clock_adds_up_its_intervals_and_nothing_between_them():
    clock = Clock(Device())
    for _ in range(3):
        with clock:
            time.sleep(2.0)
        time.sleep(50.0)
    assert clock.seconds == 6.0


def test_work_that_the_method_queued_is_waited_for():
    device = Device()
    clock = Clock(device)
    with clock:
        device.queued = 2.0
    assert clock.seconds == 2.0


def test_work_that_was_queued_before_is_not_the_methods():
    device = Device()
    clock = Clock(device)
    device.queued = 2.0
    with clock:
        pass
    assert clock.seconds == 0.0


def test_the_time_before_a_fault_counts():
    clock = Clock(Device())

    def method():
        with clock:
            time.sleep(1.0)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        method()
    assert clock.seconds == 1.0


def test_the_deadline_is_when_the_clock_will_show_the_seconds():
    clock = Clock(Device())
    with clock:
        time.sleep(3.0)
    with clock:
        assert clock.deadline(10.0) == clock.now() + 7.0


class Timed(Device):
    """A device that has a clock of its own, which counts in its own seconds."""

    def stopwatch(self):
        return lambda: 7.0


class Untimed(Device):
    def stopwatch(self):
        return None


def test_a_device_clock_adds_up_what_the_device_says():
    clock = DeviceClock(Timed())
    for _ in range(2):
        with clock:
            time.sleep(1.0)
    assert (clock.device_seconds, clock.seconds) == (14.0, 2.0)


def test_a_device_without_a_clock_has_no_seconds_of_its_own():
    clock = DeviceClock(Untimed())
    with clock:
        pass
    assert math.isnan(clock.device_seconds)


def test_cpu_seconds_are_the_processors_but_a_device_is_timed_as_before(monkeypatch):
    monkeypatch.setattr(clock_module, "process_time", lambda: 0.0)
    count_cpu_seconds()

    class Gpu(Device):
        def stopwatch(self):
            return lambda: 0.0

    host, device = Clock(Device()), Clock(Gpu())
    with host, device:
        time.sleep(5.0)
    assert (host.seconds, device.seconds) == (0.0, 5.0)


def test_cpu_seconds_are_read_beside_the_time_and_on_a_device_before_it_is_waited_for(monkeypatch):
    used = 0.0
    monkeypatch.setattr(clock_module, "process_time", lambda: used)

    class Spinning(Timed):
        def synchronize(self):
            nonlocal used
            used += self.queued
            super().synchronize()

    for kind, device in ((Clock, Device()), (Clock, Spinning()), (DeviceClock, Spinning())):
        clock = kind(device)
        for _ in range(2):
            with clock:
                used += 1.0
                time.sleep(1.0)
                device.queued = 2.0
        assert (clock.seconds, clock.cpu_seconds) == (6.0, pytest.approx(2.0, abs=1e-3))
