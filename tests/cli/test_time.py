"""`benchfw time`: kernels on every backend, in a run that is kept as any other."""

import json
import re

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
    """Takes 1 ms on the device; on the host 100 times that or nothing, which a busy machine does not hide."""
    time.sleep(cost)
    return x


def sample(backend, rng, size):
    return rng.standard_normal(size), 1e-3 if backend.name == "device" else 1e-5 * size * (size > 1000)


def break_down(x):
    raise ValueError("bad luck")


@hookimpl
def register_backends(register):
    register("device", Device)
    register("absent", missing)
    register("absent-too", missing)


@hookimpl
def register_kernels(register):
    register(Kernel("nap", nap, lambda x, cost: (2.0 * x.size, 8.0 * x.size)), sample)
    register(Kernel("broken", break_down), lambda backend, rng, size: (rng.random(size),))
'''
QUICK = ("--size", "1e3", "--size", "1e4", "--no-report")
BOTH = ("--backend", "numpy", "--backend", "device")


@pytest.fixture
def line(cli):
    cli.write("naps.py", PLUGIN)
    return lambda *words: cli("time", *words, "--limit", "0.2", "--plugin", "naps.py")


@pytest.mark.thorough
def test_a_kernel_is_timed_on_every_backend_that_is_here_and_the_run_is_kept(line, cli):
    done = line("nap", *QUICK, "--json")  # on the backends of this machine
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("benchfw: absent is not available: no such card") == 1
    found = json.loads(done.stdout)
    rows = {(row["backend"], row["problem"], row["quantity"]): row for row in found["rows"]}
    host, device = (rows[backend, "size 10,000", "seconds_per_call"] for backend in ("numpy", "device"))
    assert host["low"] <= host["estimate"] <= host["high"]  # lower on a busy machine
    assert host["estimate"] >= 0.01
    assert device["estimate"] >= 0.001
    assert rows["numpy", "size 1,000", "bytes_per_call"]["estimate"] == 8000
    assert ("numpy", "size 1,000", "ceiling_bytes_per_second") in rows
    metrics = {(row["backend"], row["metric"]) for row in cli.records()}
    assert {("device", "device_seconds_per_call"), ("device", "copy_seconds_per_call")} <= metrics
    assert ("numpy", "copy_seconds_per_call") not in metrics
    assert 0 < rows["numpy", "size 10,000", "fraction_of_limit"]["estimate"] < 1
    again = line("nap", *QUICK, *BOTH)
    assert "run 2: 12 trials (12 done), kept in reports/benchfw.sqlite" in again.stdout  # measured anew
    said = " ".join(again.stdout.split())
    assert re.search(r"device is .*times faster than numpy at size 10,000", said), said
    compared = cli("compare", "1", "2")
    assert compared.returncode == 0, compared.stderr
    assert "seconds_per_call" in compared.stdout


@pytest.mark.thorough
def test_kernels_are_timed_in_the_type_and_with_the_threads_asked_for(cli):
    words = (
        "add-scaled",
        "column-dots",
        "--size",
        "1000",
        "--dtype",
        "float32",
        "--threads",
        "1",
        "--limit",
        "0.2",
    )
    done = cli("time", *words, "--backend", "numpy", "--json", "--no-report")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {row["estimate"] for row in rows if row["quantity"] == "float_bits"} == {32}
    assert {row["method"] for row in rows} == {"add-scaled (float32)", "column-dots (float32)"}


def test_what_a_plugin_does_wrong_in_the_run_is_printed_after_it(line, cli):
    hook = "\n\n@hookimpl\ndef run_finished(run):\n    raise RuntimeError('no letter sent')\n"
    cli.write("naps.py", PLUGIN + hook)
    done = line("nap", "--size", "1e3", "--backend", "numpy", "--no-report")
    assert done.returncode == 0
    assert done.stderr.count("benchfw: a plugin's run_finished raised RuntimeError: no letter sent") == 1


def test_a_kernel_that_fails_and_a_size_beyond_the_limit_are_named_and_the_others_go_on(line):
    done = line("broken", "nap", "--size", "1e3", "--size", "1e7", "--backend", "numpy", "--no-report")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "ValueError: bad luck" in said
    assert "nap on size 10,000,000 (numpy)" in said
    assert re.search("a call would take about [0-9]+ s, and the budget is 0.2 s", said)
    assert "nap: On numpy, a call takes" in said
    assert "Traceback" not in done.stderr


def test_kernels_may_share_a_process_and_the_report_says_so(line):
    alone, among_others = (
        " ".join(line("nap", "--size", "1e3", "--backend", "numpy", "--no-report", *words).stdout.split())
        for words in ((), ("--isolation", "worker"))
    )
    assert "1 trial (1 done)" in alone
    assert "isolation by worker" not in alone
    assert "1 trial (1 done)" in among_others
    assert "trials shared worker processes (isolation by worker)" in among_others


def test_kernels_run_as_often_as_asked_for(line):
    done = line("nap", "--size", "1e3", "--backend", "numpy", "--no-report", "--repetitions", "2")
    assert "2 trials (2 done)" in " ".join(done.stdout.split())


def test_help_tells_the_defaults(cli):
    text = " ".join(cli("time", "--help").stdout.split())
    assert "[default: 1e4, 1e5, 1e6]" in text
    assert "reports/benchfw.sqlite" in text
