"""The page of `benchfw time`: one folder that opens from disk, as the pages of runs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchfw.analysis.timings import Timing, reference_of
from benchfw.report.figures.kernels import share_figure, size_figure
from benchfw.report.figures.plot import styles_of
from benchfw.report.render import fill, flat_facts, write_page
from benchfw.report.script import drawing_script
from benchfw.report.timing_tables import (
    CAPTION,
    EXPORT_COLUMNS,
    by_kernel,
    ceiling_sentences,
    export_rows,
    heading,
    kernel_table,
    missing_sentences,
    sentence,
)
from benchfw.summary.model import Method
from benchfw.summary.rows import write_csv


def write_timing_page(
    timings: Sequence[Timing], absent: Mapping[str, str], environment: Mapping[str, Any], folder: Path
) -> Path:
    """Write `folder`/index.html and timings.csv; `absent` says of a backend why it was left out."""
    groups = by_kernel(timings)
    styles = styles_of(Method(backend, "") for backend in dict.fromkeys(each.backend for each in timings))
    named = {method.label: style for method, style in styles.items()}
    drawn = [share_figure(groups, named), *(size_figure(name, each, named) for name, each in groups.items())]
    sections = [
        {
            "heading": heading(mine),
            "sentence": sentence(mine),
            "table": kernel_table(mine),
            "reference": Method(reference_of(mine), ""),
            "styles": styles,
        }
        for mine in groups.values()
    ]
    figures = [figure for figure in drawn if figure is not None]
    script = drawing_script(figures)
    page = fill(
        "time.html",
        figures,
        script,
        caption=CAPTION,
        sections=sections,
        ceilings=list(ceiling_sentences(timings)),
        missing=[*(f"{name}: {reason}" for name, reason in absent.items()), *missing_sentences(timings)],
        facts=list(flat_facts(environment)),
    )
    rows = list(export_rows(timings))
    files = {"timings.csv": partial(write_csv, columns=EXPORT_COLUMNS, rows=rows)}
    return write_page(page, script, folder, files)
