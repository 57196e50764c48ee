"""A problem made of a benchmark's objective and one of its data sets."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from benchfw import Backend, CodeFolder, CountedProblem, Problem, Rng, Unavailable
from benchfw.loading import call_unnoted
from benchfw_bridges.from_benchopt import folder as folders

VALUE, OBJECTIVE = "value", "objective"
OWN = frozenset({"seed", "maximize"})
"""Parameters of the problem that are not the data set's."""


class BenchoptTask(Problem, Protocol):
    """An objective of benchopt with its data set, for solvers of benchopt."""

    objective: Any
    """The objective: an instance of the benchmark's class, with its data."""
    context: Any
    """The seeds and names that benchopt gives to objective, data set and solver."""

    def take(self, solver: Any) -> tuple[bool, str | None]:
        """Hand the objective to a solver, as benchopt does; return whether that refuses it, and why."""
        ...


class Answer:
    """A solver's result, asked for when it is first measured: benchopt does not time that either."""

    def __init__(self, solver: Any, result: Any = None) -> None:
        self._solver, self._result = solver, result

    @property
    def result(self) -> Any:
        """What the solver returned, as it was then: it may go on and write into its arrays."""
        if self._solver is not None:
            result, self._solver = self._solver.get_result(), None
            try:
                self._result = copy.deepcopy(result)
            except Exception:  # noqa: BLE001 - a model of some library that cannot be copied
                self._result = result
        return self._result

    def __reduce__(self) -> Any:
        return Answer, (None, self.result)


class BenchoptProblem(CountedProblem):
    """The objective of a benchopt benchmark on one of its data sets; only solvers of benchopt solve it.

    Parameters:
      benchmark: the folder of the benchmark, a clone of its repository.
      dataset: the data set, by its name in the benchmark or that of its file; without it, the one that
        benchopt tests with.
      objective: parameters of the objective, as a table.
      seed: what `benchopt run --seed` is given; without it, each repetition has a seed of its own.
      maximize: the metrics of which more is better, separated by commas.
      parameters: parameters of the data set that have a name of this list, as a table. All other parameters
        are those of the data set.
    """

    cost_unit = "calls"
    check_with = ({"benchmark": str(folders.EXAMPLE)},)

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        benchmark: CodeFolder,
        dataset: str = "",
        objective: Mapping[str, Any] | None = None,
        seed: int | None = None,
        maximize: str = "",
        parameters: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> None:
        benchopt = folders.import_benchopt()
        if backend.library != "numpy":
            raise Unavailable("benchmarks of benchopt choose their own arrays; take the backend numpy")
        self.backend = backend
        folder = folders.check_folder(benchmark)
        base_seed = rng.seed if seed is None else seed
        with folders.silence():
            opened = call_unnoted(benchopt.benchmark.Benchmark, folder, seed=base_seed, no_cache=True)
            kind = call_unnoted(opened.get_benchmark_objective)
            folders.check_requirements(kind)
            chosen = folders.load_class(folder, "dataset", dataset or default_dataset(folder))
            given = {**(parameters or {}), **others}
            self.dataset = chosen.get_instance(**folders.settings_of(chosen, given))
            self.objective = kind.get_instance(**folders.settings_of(kind, objective or {}))
            self.context = benchopt.utils.run_context.RunContext(
                base_seed=str(base_seed),
                objective_name=str(self.objective),
                dataset_name=str(self.dataset),
                solver_name="",
                repetition=0,
            )
            self.context.attach(self.objective, self.dataset, None)
            skip, reason = self.objective._set_dataset(self.dataset)
        if skip:
            raise Unavailable(str(reason or f"{self.objective} does not take {self.dataset}"))
        if hasattr(self.objective, "cv"):  # a fold is drawn: benchopt takes one after the other
            folds = self.objective.cv.get_n_splits(**getattr(self.objective, "cv_metadata", {}))
            self.objective._repetition = rng.seed % folds
        criterion = getattr(self.objective, "stopping_criterion", None)
        gains = {each.strip() for each in maximize.split(",") if each.strip()}
        if criterion is not None and not criterion.minimize:
            gains.add((criterion.key_to_monitor or VALUE).removeprefix("objective_"))
        self.higher_is_better = {OBJECTIVE if each == VALUE else each for each in gains}

    @staticmethod
    def source_files(
        benchmark: str,
        dataset: str = "",
        objective: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> list[Path]:
        """Return the files of the objective and of the data set; a mistake in the names is an error."""
        folder = folders.check_folder(benchmark)
        found = [folder / "objective.py", *folders.utilities_of(folder)]
        if not folders.is_installed():
            return found
        chosen = folders.read_class(folder, "dataset", dataset or default_dataset(folder))
        given = {**(parameters or {}), **{key: others[key] for key in others if key not in OWN}}
        folders.settings_of(chosen, given)
        folders.settings_of(folders.read_objective(folder), objective or {})
        return [*found, chosen._module_filename]

    def take(self, solver: Any) -> tuple[bool, str | None]:
        """Hand the objective to a solver, as benchopt does; return whether that refuses it, and why."""
        from dataclasses import replace

        context = replace(self.context, solver_name=str(solver))
        context.attach(self.objective, self.dataset, solver)
        with folders.silence():
            skip, reason = solver._set_objective(self.objective)
        return bool(skip), reason

    def metrics(self, answer: Answer) -> dict[str, float]:
        """Return the numbers of `evaluate_result`; its `value` is the objective."""
        with folders.silence():
            evaluations = self.objective(answer.result)
        return name_metrics(evaluations)


def default_dataset(folder: Path) -> str:
    """Return the name of the data set that `benchopt test` takes."""
    objective = folders.read_objective(folder)
    named = (objective.test_config or {}).get("dataset", {}).get("name") or objective.test_dataset_name
    if named:
        return str(named if isinstance(named, str) else next(iter(named)))
    names = list(folders.read_classes(folder, "dataset"))
    return names[0] if len(names) == 1 else "simulated"


def name_metrics(evaluations: list[dict[str, Any]]) -> dict[str, float]:
    """Return the numbers of an evaluation by name; of several, each with what its texts say of it."""
    found: dict[str, float] = {}
    for number, each in enumerate(evaluations, 1):
        own = {key.removeprefix("objective_"): value for key, value in each.items()}
        words = " ".join(value for value in own.values() if isinstance(value, str)) or str(number)
        suffix = f" ({words})" if len(evaluations) > 1 else ""
        values = {name: _number(value) for name, value in own.items()}
        leading = OBJECTIVE if OBJECTIVE not in own else VALUE
        for name, value in sorted(values.items(), key=lambda item: item[0] != VALUE):
            if value is not None:
                found[f"{leading if name == VALUE else name}{suffix}"] = value
    return found


def _number(value: Any) -> float | None:
    """Return a number as a float, and None for anything else."""
    if isinstance(value, numbers.Real) or getattr(value, "shape", None) == ():
        try:
            return float(value)
        except (TypeError, ValueError):
            return None
    return None
