"""The clock runs inside the method only, and waits for the device."""

import math
from time import perf_counter, process_time, sleep

import pytest

from benchfw.measure import clock as clock_module
from benchfw.measure.clock import Clock, DeviceClock, count_cpu_seconds


class Device:
    """A backend whose queued work takes a while to finish."""

    def __init__(self):
        self.queued = 0.0

    def synchronize(self):
        sleep(self.queued)
        self.queued = 0.0


def test_the_clock_adds_up_its_intervals_and_nothing_between_them():
    clock = Clock(Device())
    inside = 0.0
    for _ in range(3):
        with clock:
            began = perf_counter()
            sleep(0.005)
            inside += perf_counter() - began
        sleep(0.05)
    assert inside <= clock.seconds < inside + 0.1


def test_work_that_the_method_queued_is_waited_for():
    device = Device()
    clock = Clock(device)
    with clock:
        device.queued = 0.02
    assert clock.seconds >= 0.02


def test_work_that_was_queued_before_is_not_the_methods():
    device = Device()
    clock = Clock(device)
    device.queued = 0.2
    with clock:
        pass
    assert clock.seconds < 0.1


def test_the_time_before_a_fault_counts():
    clock = Clock(Device())

    def method():
        with clock:
            sleep(0.01)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        method()
    assert clock.seconds >= 0.01


def test_the_deadline_is_when_the_clock_will_show_the_seconds():
    clock = Clock(Device())
    with clock:
        sleep(0.01)
    before = clock.seconds
    with clock:
        assert clock.deadline(1.0) - clock._started == pytest.approx(1.0 - before)


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
            sleep(0.01)
    assert clock.device_seconds == 14.0
    assert 0.02 <= clock.seconds < 1.0


def test_a_device_without_a_clock_has_no_seconds_of_its_own():
    clock = DeviceClock(Untimed())
    with clock:
        pass
    assert math.isnan(clock.device_seconds)


def test_cpu_seconds_leave_out_what_a_process_sleeps_but_not_the_time_of_a_device(monkeypatch):
    monkeypatch.setattr(clock_module, "_host_timer", perf_counter)  # put back afterwards
    count_cpu_seconds()

    class Gpu(Device):
        def stopwatch(self):
            return lambda: 0.0

    host, device = Clock(Device()), Clock(Gpu())
    with host, device:
        sleep(0.05)
        began = process_time()
        while process_time() < began + 0.01:
            pass
    assert 0.01 <= host.seconds < 0.05
    assert device.seconds >= 0.06
