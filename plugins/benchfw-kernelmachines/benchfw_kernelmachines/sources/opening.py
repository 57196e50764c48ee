"""A data set by name, as training rows and test rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchfw import BenchfwError
from benchfw.backends import Backend
from benchfw.data import Table, load, load_table, split, stream_parameters
from benchfw_kernelmachines.sources.row_source import RowSource, sample_numbers
from benchfw_kernelmachines.sources.rows_in_memory import RowsInMemory
from benchfw_kernelmachines.sources.rows_mapped import RowsMapped
from benchfw_kernelmachines.sources.rows_streamed import RowsStreamed, read_stream
from benchfw_kernelmachines.sources.rows_warped import RowsWarped

TESTED = 10_000
"""The most test rows that are looked at."""
STORED = 50_000
"""The most rows of a synthetic stream that are kept in memory rather than made again in every pass."""


def open_rows(backend: Backend, dataset: str, rows: int | None) -> tuple[RowSource, Table]:
    """Return the training rows, the first `rows` of them, and at most 10,000 test rows, all as stored.

    `dataset` is a name that `benchfw.data.load` knows; a set kept as .npy files is memory-mapped. The test
    rows are those of the set's own split.
    """
    settings = stream_parameters(dataset)
    if settings is not None:
        return _open_stream(backend, dataset, settings, rows)
    return _open_arrays(backend, dataset, load(dataset), rows)


def _open_arrays(
    backend: Backend, dataset: str, arrays: dict[str, np.ndarray], rows: int | None
) -> tuple[RowSource, Table]:
    if "y_test" in arrays:
        parts = [load_table(dataset, "train", arrays=arrays), load_table(dataset, "test", arrays=arrays)]
        places: list[np.ndarray | None] = [None, None]
    else:
        parts = [load_table(dataset, arrays=arrays)] * 2
        places = list(split(dataset, arrays=arrays)[:2])
    for part in parts:
        _check_types(dataset, part)
    train, test = (_source(backend, *each) for each in zip(parts, places, strict=True))
    count = _count(dataset, rows, train.num_samples)
    return train.head(count), test.take(sample_numbers(test.num_samples, TESTED))


def _check_types(dataset: str, stored: Table) -> None:
    """Raise BenchfwError unless features are numbers, and targets numbers too, one a row."""
    for name, values in zip(("features", "labels"), stored, strict=True):
        if values.dtype.kind not in "biuf":
            raise BenchfwError(
                f"data set '{dataset}' has {name} of the type {values.dtype}; give numbers in their place"
            )
    if stored.targets.ndim != 1:
        raise BenchfwError(
            f"data set '{dataset}' has labels of the shape {stored.targets.shape}; give one number a row"
        )


def _source(backend: Backend, stored: Table, places: np.ndarray | None) -> RowsInMemory | RowsMapped:
    """Return the rows in these places, or all, mapped if they are."""
    features, targets = stored.features, np.array(stored.targets)
    if isinstance(features, np.memmap):
        return RowsMapped(backend, features, targets if places is None else targets[places], places)
    return RowsInMemory(stored if places is None else Table(features[places], targets[places]))


def _open_stream(
    backend: Backend, dataset: str, settings: Mapping[str, Any], rows: int | None
) -> tuple[RowSource, Table]:
    """Return a stream without the rows that test: its first tenth, or those of the set that it deforms."""
    total = int(settings["rows"])
    if "source" in settings:  # deformations of one picture must not stand on both sides
        start = 0
        pictures = RowsInMemory(load_table(str(settings["source"]), "test"))
        test = pictures.take(sample_numbers(pictures.num_samples, TESTED))
    else:
        start = max(1, min(total // 10, TESTED))
        test = read_stream(dataset, 0, start)
    count = _count(dataset, rows, total - start)
    if count <= STORED:
        return RowsInMemory(read_stream(dataset, start, start + count)), test
    if "source" in settings:
        return RowsWarped.opened(backend, settings, count), test
    return RowsStreamed.opened(dataset, start, start + count), test


def _count(dataset: str, rows: int | None, available: int) -> int:
    """Return how many rows to take."""
    wanted = rows or 2
    if available < wanted:
        raise BenchfwError(f"data set '{dataset}' has {available} training rows; it takes {wanted} or more")
    return rows or available
