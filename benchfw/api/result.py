"""What a run found, to look at from Python: the same for `compare`, `run`, `load` and `runs`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchfw.api.arguments import as_names, as_path, faults_in_python, in_python
from benchfw.api.planning import check_code, trusted_registry
from benchfw.api.running import describe_lack, page_folder, report_run
from benchfw.api.toml import texts_in, write_toml
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.records import Outcome
from benchfw.registry import GIVEN, Registry
from benchfw.report.captions import heading
from benchfw.report.terminal import describe_counts, plain_lines
from benchfw.report.text import printable
from benchfw.report.verdicts import verdict
from benchfw.store import Store

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from plotly.graph_objects import Figure as PlotlyFigure

    from benchfw.summary.model import Summary

MOST_LINES = 40  # of a result as text
FRESH, RETRY = "fresh=True", "retry_failed=True"

XAxis = Literal["cost", "seconds", "iterations"]


class RunResult:
    """A stored run and what it found: verdicts, tables, figures, records.

    At the end of a cell it is shown as a small report.
    """

    def __init__(self, run: Run, registry: Registry | None = None) -> None:
        self.run = run
        """The run: how its trials ended, and the environment that it was made in."""
        self._registry = registry

    @property
    def id(self) -> int:
        """The number of the run in its store."""
        return self.run.id

    @property
    def counts(self) -> Mapping[str, int]:
        """How many trials ended how: `{"reached": 10}`."""
        return self.run.counts

    @property
    def reused(self) -> int:
        """How many trials were in the store already and were not run again."""
        return self.run.reused

    @property
    def verdicts(self) -> dict[str, str]:
        """What the run says, a sentence or more for each problem and kind of method."""
        return {heading(each): verdict(each) for each in self._summary.comparisons}

    @property
    def frame(self) -> pd.DataFrame:
        """All records as a table in long form: one row per measured value, a column for each parameter."""
        return self._records.copy(deep=False)

    @property
    def summary(self) -> pd.DataFrame:
        """The estimates with their intervals as a table: a row for each quantity of each method."""
        return self._estimates.copy(deep=False)

    @property
    def tuning(self) -> pd.DataFrame:
        """What tuning tried: a row for each setting, with its scores and whether it was chosen."""
        from benchfw.summary.exports import tuning_rows

        columns, rows = tuning_rows(self._summary.tuned)
        return _frame(rows, columns, "tuning")

    @property
    def claims(self) -> pd.DataFrame:
        """The claims as decided: a row for each number that a claim is about, most have one."""
        from benchfw.summary.claims.tables import CLAIM_COLUMNS, claim_rows

        return _frame(claim_rows(self._summary.claims), [*CLAIM_COLUMNS], "claims")

    @functools.cached_property
    def _records(self) -> pd.DataFrame:
        from benchfw.summary.exports import RECORD_COLUMNS, parameter_columns, record_rows

        with self._open() as store:
            parameters = parameter_columns(store.specs(self.id))
            verdict = (each for each in store.stream(self.id) if not each.trial.tuning)
            rows = list(record_rows(self.run, verdict, parameters))
        return _frame(rows, [*RECORD_COLUMNS, *parameters], "frame")

    @functools.cached_property
    def _estimates(self) -> pd.DataFrame:
        from benchfw.summary.exports import estimate_rows

        columns, rows = estimate_rows(self._summary)
        return _frame(rows, columns, "summary")

    def plot(
        self,
        metric: str | None = None,
        *,
        x: XAxis | None = None,
        problem: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a figure by matplotlib into `ax`, or into new axes, and return these.

        Without a metric it is the first figure of the report; without `x` it is against cost where it can be.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise BenchfwError("plot() needs matplotlib; pip install 'benchfw[paper]'") from None
        from benchfw.report.figures.chosen import find_view
        from benchfw.report.figures.drawing import draw_view

        title, view = find_view(self._summary, metric, x, problem)
        if ax is not None and not hasattr(ax, "plot"):
            raise BenchfwError(f"ax must be axes of matplotlib, got {type(ax).__name__}")
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        draw_view(ax, view)
        ax.set_title(title)
        return ax

    def figure(
        self, metric: str | None = None, *, x: XAxis | None = None, problem: str | None = None
    ) -> PlotlyFigure:
        """Return the figure that `plot` draws as one of Plotly's."""
        try:
            from plotly.graph_objects import Figure
        except ImportError:
            raise BenchfwError("figure() needs plotly; pip install 'benchfw[plotly]'") from None
        from benchfw.report.figures.chosen import find_view

        title, view = find_view(self._summary, metric, x, problem)
        return Figure(view.data, {"title": {"text": title}, "template": "simple_white", **view.layout})

    @faults_in_python()
    def report(self, path: str | Path | None = None) -> Path:
        """Write the report as one .html or .md file, or without a path beside the store; return its path."""
        found = None if path is None else as_path(path, "path")
        if found is not None and found.suffix not in {".html", ".md"}:
            raise BenchfwError(f"path must end in .html or .md, got {str(path)!r}")
        try:
            return self._write_report(found)
        except OSError as fault:
            raise BenchfwError(f"path {str(path)!r} cannot be written ({fault}); give another") from None

    def _write_report(self, path: Path | None) -> Path:
        if path is not None and path.suffix == ".md":
            from benchfw.report.markdown import markdown

            path.write_text(in_python(markdown(self._summary, self.run)), encoding="utf-8", errors="replace")
            return path
        lack = describe_lack()
        if lack:
            raise BenchfwError(f"report() {lack}")
        with self._open() as store:
            page = report_run(store, self.run, self._registry or Registry())[0].report
        if page is None or path is None:
            return page or page_folder(self.run.store, self.run)
        from benchfw.report.page import single_file

        path.write_text(single_file(page), encoding="utf-8", errors="replace")
        return path

    def save(self, bundle: str | Path) -> Path:
        """Pack trials, records, suite and versions into one .zip file for another machine; not code to run.

        The source of objects of a session, as far as it can be seen, is in the suite as a comment.
        """
        from benchfw.store.bundle import write_bundle

        path = as_path(bundle, "bundle")
        if path.suffix != ".zip":
            raise BenchfwError(f"bundle must be the name of a .zip file, got {str(bundle)!r}")
        write_bundle(self.run.store, self.run, path)
        return path

    def to_toml(self) -> str:
        """Return the suite file that runs the same trials; all parts must be registered by plugins."""
        import tomllib

        table, changes = tomllib.loads(self.run.text), self.run.environment.changes
        if changes.only or changes.quick:
            raise BenchfwError(
                "to_toml() has no suite file for a part of a suite; run it without `only` and `quick`"
            )
        objects = sorted({name.removeprefix(GIVEN) for name in texts_in(table) if name.startswith(GIVEN)})
        if objects:
            raise BenchfwError(
                f"to_toml() cannot write {', '.join(objects)}: a suite file names what plugins register, and "
                "objects of a session have no name; put them into a plugin's file"
            )
        if changes.repetitions is not None:
            table["repetitions"] = changes.repetitions
        if changes.backends:
            table["backends"] = list(changes.backends)
        plugins = [*self.run.environment.plugins]
        if plugins and not table.get("plugins"):
            table = {"plugins": plugins, **table}
        return write_toml(table)

    def trial(
        self,
        method: str | int,
        problem: str | None = None,
        repetition: int = 0,
        *,
        plugins: str | Sequence[str] = (),
    ) -> Outcome:
        """Run one trial again in this process and return its outcome, for `breakpoint()` and `%debug`.

        It is given by its number in the column `trial` of `frame`, or by its labels. What the method raises
        is raised here. A warning says where it is not the trial that was run: objects of a session run as
        they are now.
        """
        from benchfw.api.replaying import find_trial, replay_trial

        names = as_names(plugins, "plugins")
        with self._open() as store:
            found = find_trial(list(store.stream(self.id)), self.id, method, problem, repetition)
        registry = self._registry
        if registry is None:
            registry = trusted_registry(self.run, names)
            check_code(self.run, [found.trial], registry, names)
        return replay_trial(found, self.id, registry)

    @functools.cached_property
    def _summary(self) -> Summary:
        from benchfw.summary.summarize import summarize

        with self._open() as store:
            return summarize(self.run, store.stream(self.id), best_known=store.best_known)

    @faults_in_python()
    def _open(self) -> Store:
        return Store(self.run.store)

    def __repr__(self) -> str:
        lines = list(plain_lines(self._summary, translate=in_python))
        lines += [printable(f"note: {each}") for each in self._notes]
        end = [printable(describe_counts(self.run, FRESH, RETRY)), *filter(None, [self.run.standing])]
        if len(lines) + len(end) > MOST_LINES:
            kept = MOST_LINES - len(end) - 1
            lines = [*lines[:kept], f"… {len(lines) - kept} more lines; report() writes all of it"]
        return "\n".join([*lines, *end])

    def _repr_html_(self) -> str:
        from benchfw.report.cell import render_cell

        counts = describe_counts(self.run, FRESH, RETRY)
        return in_python(render_cell(self._summary, self.run, [*self._notes, counts]))

    @property
    def _notes(self) -> list[str]:
        """What was wrong with a plugin, or slow."""
        return [] if self._registry is None else self._registry.broken


def _frame(rows: list[tuple[Any, ...]], columns: list[str], what: str) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise BenchfwError(f"{what} needs pandas; pip install 'benchfw[frame]'") from None
    return pd.DataFrame(rows, columns=columns)
