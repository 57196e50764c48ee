"""A solver of a benchmark as an optimizer, sampled as its strategy says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from benchfw import CodeFolder, Rng, Unavailable, from_callback
from benchfw_bridges.from_benchopt import folder as folders
from benchfw_bridges.from_benchopt.problem import Answer, BenchoptTask


@dataclass(frozen=True)
class BenchoptSolver:
    """A solver before it has an objective; it cannot be run without `prepare`."""

    benchmark: str
    solver: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    solves: ClassVar[type] = BenchoptTask
    first: ClassVar[int] = 0
    knows_cost: ClassVar[bool] = False

    def prepare(self, problem: BenchoptTask) -> Any:
        """Return the solver with the objective set and warmed up; a solver that refuses it is skipped."""
        folders.import_benchopt()
        folder = folders.check_folder(self.benchmark)
        kind = folders.load_class(folder, "solver", self.solver)
        made = kind.get_instance(**folders.settings_of(kind, self.parameters))
        skip, reason = problem.take(made)
        if skip:
            raise Unavailable(str(reason or f"{made} skips this objective and gives no reason"))
        with folders.silence():
            made._warm_up()
            return _ready(made)

    def run(self, problem: BenchoptTask, rng: Rng) -> Iterator[Answer]:
        """Yield the answers of the prepared solver."""
        ready = self.prepare(problem)
        yield from ready.run(problem, rng) if hasattr(ready, "run") else ready.answers(problem, rng)


def benchopt_solver(
    benchmark: CodeFolder, solver: str, parameters: Mapping[str, Any] | None = None, **others: Any
) -> BenchoptSolver:
    """A solver of a benchopt benchmark, on that benchmark's objective.

    Parameters:
      benchmark: the folder of the benchmark, a clone of its repository.
      solver: the solver, by its name in the benchmark or that of its file.
      parameters: parameters of the solver that have a name of this list, as a table. All other parameters are
        those of the solver.
    """
    return BenchoptSolver(benchmark, solver, {**(parameters or {}), **others})


def source_files(
    benchmark: str, solver: str, parameters: Mapping[str, Any] | None = None, **others: Any
) -> list[Path]:
    """Return the file of a solver; a mistake in its name or its parameters is an error."""
    folder = folders.check_folder(benchmark)
    if not folders.is_installed():
        return [*folders.utilities_of(folder)]
    kind = folders.read_class(folder, "solver", solver)
    folders.settings_of(kind, {**(parameters or {}), **others})
    return [*folders.utilities_of(folder), kind._module_filename]


benchopt_solver.solves = BenchoptTask  # type: ignore[attr-defined]
benchopt_solver.check_with = ({"benchmark": str(folders.EXAMPLE), "solver": "GD"},)  # type: ignore[attr-defined]
benchopt_solver.source_files = source_files  # type: ignore[attr-defined]


def _ready(solver: Any) -> Any:
    strategy = solver._solver_strategy
    if strategy == "callback":
        solver.pre_run_hook(lambda: False)
        return _CallingBack(solver)
    if strategy == "run_once":
        return _Once(solver)
    if strategy == "tolerance":
        return _ByTolerance(solver, tolerances_of(solver))
    return _BySteps(solver) if hasattr(solver, "get_next") else _ByIterations(solver)


@dataclass(frozen=True)
class _Restarted:
    """A solver that is called from scratch with a value that says when to stop."""

    solver: Any
    solves: ClassVar[type] = BenchoptTask
    first: ClassVar[int] = 0

    def stop_value(self, effort: int) -> Any:
        """Return what `run` of the solver is given."""
        return effort

    def prepare_call(self, problem: BenchoptTask, effort: int) -> None:
        """Do what the solver wants done before a call, off the clock."""
        self.solver.pre_run_hook(self.stop_value(effort))

    def solve(self, problem: BenchoptTask, rng: Rng, effort: int) -> Answer:
        """Run the solver once."""
        self.solver.run(self.stop_value(effort))
        return Answer(self.solver)

    def answers(self, problem: BenchoptTask, rng: Rng) -> Iterator[Answer]:
        """Yield the answers of calls with growing effort, for whoever wants them one by one."""
        for effort in getattr(self, "efforts", None) or itertools.count():
            self.prepare_call(problem, effort)
            answer = self.solve(problem, rng, effort)
            _ = answer.result  # before the solver is called again
            yield answer


class _ByIterations(_Restarted):
    """The effort is the number of iterations."""


class _BySteps(_Restarted):
    """The numbers of iterations are those that the solver itself asks for."""

    @property
    def efforts(self) -> Iterator[int]:
        """The numbers of iterations, one after the other."""
        value = 0
        while True:
            yield int(value)
            value = self.solver.get_next(value)


@dataclass(frozen=True)
class _ByTolerance(_Restarted):
    """The effort is the place of a tolerance among those that benchopt would try."""

    tolerances: Sequence[float] = ()

    @property
    def efforts(self) -> range:
        """One for each tolerance."""
        return range(len(self.tolerances))

    def stop_value(self, effort: int) -> float:
        """Return the tolerance."""
        return self.tolerances[effort]


def tolerances_of(solver: Any) -> list[float]:
    """Return infinity, then 1 and what follows, by a factor of 1.5 or as the solver says, as in benchopt."""
    from benchopt.stopping_criterion import INFINITY, MIN_TOL

    criterion = solver._stopping_criterion.get_runner_instance(solver=solver)
    found = [float(INFINITY)]
    while found[-1] > MIN_TOL:
        after = float(criterion.get_next_stop_val(found[-1]))
        if not after < found[-1]:
            break
        found.append(after)
    return found


class _Once(_Restarted):
    """The solver runs once, to its own end."""

    efforts: ClassVar[tuple[int, ...]] = (1,)
    first: ClassVar[int] = 1

    def stop_value(self, effort: int) -> Any:
        """Return what benchopt gives a solver that runs once."""
        return getattr(self.solver._stopping_criterion, "stop_val", 1)


@dataclass(frozen=True)
class _CallingBack:
    """A solver that calls back before each iteration."""

    solver: Any
    solves: ClassVar[type] = BenchoptTask
    first: ClassVar[int] = 0

    @from_callback
    def run(self, problem: BenchoptTask, rng: Rng, callback: Callable[[Answer], None]) -> None:
        """Run the solver; it goes on as long as its callback returns true."""
        solver = self.solver

        def go_on() -> bool:
            callback(Answer(solver))
            return True

        solver.run(go_on)
