"""`benchfw time`: kernels on every backend beside the hardware's limit."""

import csv
import json

import pytest

PLUGIN = '''
import time

import numpy as np

from benchfw import hookimpl
from benchfw.backends.numpy_backend import NumpyBackend
from benchfw.errors import BackendUnavailable
from benchfw.kernels import Kernel


class Device(NumpyBackend):
    """A device on which everything is copied, with a clock of its own."""

    name = "device"

    def asarray(self, values, dtype=None):
        return np.array(values, dtype=dtype)

    def to_numpy(self, values):
        return np.array(values)

    def stopwatch(self):
        began = time.perf_counter()
        return lambda: time.perf_counter() - began


def missing():
    raise BackendUnavailable("absent is not available: no such card")


def nap(x, cost):
    """Takes 3 ms on the device, and on the host a microsecond an entry."""
    time.sleep(cost)
    return x


def sample(backend, rng, size):
    return rng.standard_normal(size), 3e-3 if backend.name == "device" else 1e-6 * size


def break_down(x):
    raise ValueError("bad luck")


@hookimpl
def register_backends(register):
    register("device", Device)
    register("absent", missing)


@hookimpl
def register_kernels(register):
    register(Kernel("nap", nap, lambda x, cost: (2.0 * x.size, 8.0 * x.size)), sample)
    register(Kernel("broken", break_down), lambda backend, rng, size: (rng.random(size),))
'''
QUICK = ("--limit", "1", "--size", "1e3", "--size", "1e4")


@pytest.fixture
def line(cli):
    cli.write("naps.py", PLUGIN)
    return lambda *words: cli("time", *words, "--plugin", "naps.py")


def test_a_kernel_is_timed_on_every_backend_with_ratio_and_break_even(line, cli):
    done = line("nap", *QUICK, "--json", "--backend", "numpy", "--backend", "device", "--no-report")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = {(row["backend"], row["size"]): row for row in found["timings"]}
    assert set(rows) == {("numpy", 1000), ("numpy", 10_000), ("device", 1000), ("device", 10_000)}
    host, device = rows["numpy", 10_000], rows["device", 10_000]
    assert 0.01 <= host["seconds_low"] <= host["seconds"] <= host["seconds_high"]
    assert host["device_seconds"] is host["copy_seconds"] is None
    assert 0.003 <= device["device_seconds"] <= device["seconds"] * 1.5
    assert device["copy_seconds"] > 0
    assert device["times_faster"] == pytest.approx(host["seconds"] / device["seconds"])
    assert host["fraction_of_limit"] == pytest.approx(host["floor_seconds"] / host["seconds"])
    assert host["bytes_per_second"] == pytest.approx(80_000 / host["seconds"])
    # 1e-6 n seconds on the host are 3 ms at n = 3000, if nobody else uses the machine
    (even,) = found["break_even"]
    assert (even["kernel"], even["backend"]) == ("nap", "device")
    assert 1000 < even["size"] < 10_000
    assert {each["backend"] for each in found["ceilings"]} == {"numpy", "device"}
    assert not (cli.folder / "reports").exists()


def test_the_tables_and_the_page_say_the_same(line, cli):
    done = line("nap", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "absent: skipped: absent is not available: no such card" in done.stdout
    assert "device is faster than numpy from size" in " ".join(done.stdout.split())
    header = next(row for row in done.stdout.splitlines() if "time a call" in row)
    assert {"size", "GB/s", "Gflop/s"} <= set(header.split())
    page = cli.folder / "reports/time/index.html"
    assert f"report: {page.relative_to(cli.folder)}" in done.stdout
    assert "device is faster than numpy" in page.read_text(encoding="utf-8")
    with (page.parent / "timings.csv").open(encoding="utf-8", newline="") as file:
        assert {row["kernel"] for row in csv.DictReader(file)} == {"nap"}


def test_kernels_of_the_core_are_timed_in_the_type_asked_for(cli):
    words = ("soft-threshold", "chebyshev-forms", "--limit", "1", "--size", "1000", "--dtype", "float32")
    done = cli("time", *words, "--backend", "numpy", "--json", "--no-report", "--threads", "1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["dtype"] for row in found["timings"]] == ["float32", "float32"]
    assert found["environment"]["threads"] == 1
    assert all(row["fraction_of_limit"] > 0 for row in found["timings"])


def test_a_kernel_that_fails_is_named_with_the_reason_and_the_others_go_on(line):
    done = line("broken", "nap", *QUICK, "--backend", "numpy", "--no-report")
    assert done.returncode == 1
    assert "broken, size 1,000 (numpy): failed: ValueError: bad luck" in done.stdout
    assert "nap (float64): numpy reaches" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("soft-treshold",), "unknown kernel 'soft-treshold'; did you mean 'soft-threshold'?"),
        (("nap", "--backend", "numpi"), "unknown backend 'numpi'; did you mean 'numpy'?"),
        (("nap", "--backend", "absent"), "absent is not available: no such card"),
        (("nap", "--size", "1.5"), "'1.5' is no size; write a whole number such as 10000 or 1e6"),
        (("nap", "--size", "nan"), "'nan' is no size"),
        (("nap", "--size", "inf"), "'inf' is no size"),
    ],
)
def test_bad_input_is_one_clear_line_and_nothing_is_written(line, cli, words, said):
    done = line(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (cli.folder / "reports").exists()


def test_help_tells_the_defaults(cli):
    text = " ".join(cli("time", "--help").stdout.split())
    assert "[default: 1e4, 1e5, 1e6]" in text
    assert "reports/time" in text
