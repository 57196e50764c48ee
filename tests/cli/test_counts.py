"""Accidents with cost, answers and the problem end in one sentence; declared and prepared work is shown."""

PLUGIN = """
import copy
from dataclasses import dataclass, replace
import numpy as np
from benchfw import CountedProblem, Smooth, clip_gap, hookimpl

WEIGHTS = {"value": np.ones(3)}

class Bowl(CountedProblem):
    scale = np.ones(3)
    def __init__(self, backend, rng):
        self.backend, self.optimum, self.matrix = backend, rng.standard_normal(3), np.eye(3)
    def start(self):
        return np.zeros(3)
    def value(self, x):
        self._count(0.5)
        scaled = self.scale * WEIGHTS["value"] * (x - self.optimum)
        return float(scaled @ self.matrix @ (x - self.optimum)) / 2
    def grad(self, x):
        self._count(1)
        return self.matrix @ (x - self.optimum)
    def project(self, x):
        return x
    def metrics(self, x):
        return {"gap": clip_gap(self.value(x), 0.0)}

@dataclass(frozen=True)
class Descent:
    how: str = "honest"
    ready: bool = False
    solves = Smooth
    @property
    def knows_cost(self):
        return self.how != "open"
    def prepare(self, problem):
        if self.how == "prepares":
            problem.grad(problem.start())
            return replace(self, ready=True)
        return self
    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            if self.how == "once" and not x.any():
                problem.grad(x)
            if self.how in {"free", "once", "open"}:
                x = x - (0.1 if self.how == "once" else 0.5) * problem.matrix @ (x - problem.optimum)
                continue
            if self.how == "charges":
                x = x - 0.5 * problem.matrix @ (x - problem.optimum)
                problem.charge(2)
                continue
            if self.how == "prepares":
                assert self.ready
            copied = {"copies": copy.copy, "deep-copies": copy.deepcopy}.get(self.how)
            x = x - 0.5 * (copied(problem) if copied else problem).grad(x)
            if self.how == "shared":
                problem.scale[:] = 0
            if self.how == "module":
                WEIGHTS["value"][:] = 0
            if self.how == "rewinds":
                problem.cost -= 1
            if self.how == "negative":
                problem.matrix = -problem.matrix
            if self.how == "tampers":
                problem.optimum = x
            if self.how == "reshapes":
                x = x[None]

@hookimpl
def register_problems(register):
    register("bowl", Bowl)

@hookimpl
def register_optimizers(register):
    register("descent", Descent)
"""

SUITE = """
repetitions = 2
budget = { iterations = 37 }
target = { gap = 0.1 }
plugins = ["counts.py"]
[[problem]]
use = "bowl"
[[optimizer]]
use = "descent"
how = ["honest", "free", "once", "open", "charges", "prepares", "copies", "deep-copies",
       "rewinds", "negative", "tampers", "reshapes", "shared", "module"]
"""

FAULTS = {
    "rewinds": "problem.cost is read-only: the oracles of Bowl count their calls; a method that works",
    "negative": "and it cannot be below 0: the reference value is wrong, or the method changed the problem",
    "tampers": "on the same problem built again from its seed: the method changed the problem",
    "shared": "on the same problem built again from its seed: the method changed the problem",
    "module": "on the same problem built again from its seed: the method changed the problem",
    "reshapes": "answer 1 has shape (1, 3), the start has (3,); yield answers like the start",
}


def test_a_method_can_neither_miscount_nor_change_what_measures_it(cli):
    cli.write("counts.py", PLUGIN)
    cli.write("counts.toml", SUITE)
    done = cli("run", "counts.toml", "--jobs", "0", "--no-report")
    assert done.returncode == 1, done.stderr
    by_method = {}
    for row in cli.records():
        by_method.setdefault(row["method"].split("=")[-1].rstrip(")"), []).append(row)
    for how, sentence in FAULTS.items():
        assert {row["status"] for row in by_method[how]} == {"failed"}, how
        assert all(sentence in row["reason"] for row in by_method[how]), by_method[how][0]["reason"]
        ending = "fault" if how in ("rewinds", "reshapes") else "untrue"
        assert {row["ending"] for row in by_method[how]} == {ending}, how
    assert {
        how: by_method[how][0]["counting"]
        for how in ("honest", "once", "free", "open", "charges", "prepares")
    } == {
        "honest": "counted",
        "once": "uncounted",
        "free": "uncounted",
        "open": "unknown",
        "charges": "declared",
        "prepares": "counted",
    }
    (first, *_) = [row for row in by_method["prepares"] if row["metric"] == "prepare_cost"]
    assert float(first["value"]) == 1
    gaps = [[(r["iteration"], r["cost"], r["value"]) for r in by_method[how] if r["metric"] == "gap"]
            for how in ("honest", "prepares", "copies", "deep-copies")]  # fmt: skip
    assert all(each == gaps[0] for each in gaps)
    report = cli("report", "last", "--format", "md").stdout
    warned = " ".join(line for line in report.splitlines() if "without a counted oracle call" in line)
    assert "how=free" in warned
    assert "how=open" not in warned
    assert "its cost is declared by the method, not counted by the problem" in done.stdout + report
    assert "gradients to prepare" in done.stdout + report


def test_a_problem_whose_cost_methods_could_write_is_refused_before_anything_runs(cli):
    plain = PLUGIN.replace("(CountedProblem)", "").replace("self._count(0.5)", "self.cost = 1")
    cli.write("counts.py", plain)
    cli.write("counts.toml", SUITE)
    done = cli("run", "counts.toml")
    assert done.returncode == 2
    assert "problem 'bowl': methods could write the cost of Bowl; derive it from" in done.stderr
