"""Solvers that do not yield, from a suite to the store and back."""

PLUGIN = """
from dataclasses import dataclass
import numpy as np
from benchfw import CountedProblem, Smooth, from_callback, hookimpl

class Bowl(CountedProblem):
    def __init__(self, backend, rng):
        self.backend, self.optimum = backend, rng.standard_normal(3)
    def start(self):
        return np.zeros(3)
    def value(self, x):
        self._count(0.5)
        return self._value(x)
    def grad(self, x):
        self._count(1)
        return x - self.optimum
    def project(self, x):
        return x
    def metrics(self, x):
        return {"gap": self._value(x)}
    def _value(self, x):
        return float((x - self.optimum) @ (x - self.optimum)) / 2

def descend(problem, rng, steps):
    x = problem.start()
    for _ in range(steps):
        x = x - 0.1 * (1 + 0.1 * rng.random()) * problem.grad(x)
        yield x

@dataclass(frozen=True)
class Again:
    solves = Smooth
    def solve(self, problem, rng, effort):
        *_, last = descend(problem, rng, effort)
        return last

@from_callback
def calling(problem, rng, callback):
    for x in descend(problem, rng, 10**6):
        callback(x)

@hookimpl
def register_problems(register):
    register("bowl", Bowl)

@hookimpl
def register_optimizers(register):
    register("again", Again)
    register("calling", calling)
"""

SUITE = """
repetitions = 3
budget = { iterations = 1000 }
target = { gap = 1e-4 }
plugins = ["both.py"]
problem = [{ use = "bowl" }]
optimizer = [{ use = "calling" }, { use = "again" }]
"""


def test_both_ways_to_run_a_solver_give_equal_arrivals_and_repeat(cli):
    cli.write("both.py", PLUGIN)
    cli.write("both.toml", SUITE)
    done = cli("run", "both.toml", "--no-report", "--replay", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "trials ran a second time, in another process; all gave the same records." in said
    assert "again on bowl: each point of its curve is a call from scratch" in said
    rows = cli.records()
    assert {row["from_scratch"] for row in rows if row["method"] == "again"} == {"True"}
    assert {row["from_scratch"] for row in rows if row["method"] == "calling"} == {"False"}
    assert {row["status"] for row in rows} == {"reached"}
    summary = cli("export", "last", "--summary").stdout.splitlines()
    # seeds hash the method's name, so that steps differ a little
    found = {row.split(",")[1]: float(row.split(",")[4]) for row in summary if ",cost_to_target," in row}
    assert abs(found["again"] / found["calling"] - 1) < 0.05
