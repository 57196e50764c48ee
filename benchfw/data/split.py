"""Train and test rows: as stored with the data, else by the papers' protocol, drawn from a seed.

The draws come from benchfw's own stream of random bits, so that a seed gives the same rows on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from benchfw.data.catalog import find_dataset, parse_dataset_name
from benchfw.data.load import load
from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.backends import Rng
    from benchfw.data.dataset import Arrays

STREAM = 0x73706C6974  # "split": no other use of a seed shares its numbers

MOST_HELD_OUT = 0.2  # of the training rows: with many fewer rows another setting may be the best

validation_seed: ContextVar[int | None] = ContextVar("validation_seed", default=None)
"""Set in a trial that tunes by test rows: draws the training rows that stand in for them."""


class Split(NamedTuple):
    """Row numbers, int64, and how they were chosen."""

    train: np.ndarray[Any, Any]
    test: np.ndarray[Any, Any]
    protocol: str


class Table(NamedTuple):
    """All rows: features (n, …) and targets (n,); of a set in two parts the training rows first."""

    features: np.ndarray[Any, Any]
    targets: np.ndarray[Any, Any]


def split(name: str, seed: int = 0, *, arrays: Arrays | None = None, **params: Any) -> Split:
    """Return the training and the test rows of a data set.

    A stored split is taken as it is, whatever the seed (of ten stored ones, number `seed` modulo 10);
    without one the set's own rule, or a tenth of the rows drawn from the seed. Rows of a set in two parts
    (x_train, x_test) count through both. `arrays` saves loading them again.

    In a trial that tunes by a metric of test rows, rows drawn from the training rows take their place.
    """
    plain, params = parse_dataset_name(name, params)
    arrays = load(plain, **params) if arrays is None else arrays
    found = _stored_split(arrays, seed)
    if found is None:
        entry = find_dataset(plain)
        rule, *numbers = entry.split if entry is not None and entry.split else ("fraction",)
        found = RULES[str(rule)](arrays, seed, *(int(each) for each in numbers))
    holding = validation_seed.get()
    return found if holding is None else _hold_out(found, holding)


def _hold_out(parts: Split, seed: int) -> Split:
    """Return a split of the training rows alone, in the same proportion as far as that is allowed."""
    import numpy as np

    rows = len(parts.train)
    share = len(parts.test) / max(1, rows + len(parts.test))
    count = min(max(1, round(min(share, MOST_HELD_OUT) * rows)), rows // 2)
    order = _rng(seed, 2).permutation(rows)
    train, held = (np.sort(parts.train[each]) for each in (order[count:], order[:count]))
    return Split(train, held, f"{parts.protocol}; {count:,} of the training rows stand in for the test rows")


def has_split(name: str, arrays: Arrays) -> bool:
    """Return whether the data or its papers fix the training rows; else `split` draws a tenth to test."""
    entry = find_dataset(name)
    return _stored_split(arrays, 0) is not None or bool(entry is not None and entry.split)


def load_table(
    name: str,
    part: Literal["all", "train", "test"] = "all",
    seed: int = 0,
    *,
    arrays: Arrays | None = None,
    **params: Any,
) -> Table:
    """Return the features and targets of all rows, or of those that `split` gives to one part.

    Bit-packed features are unpacked.
    """
    import numpy as np

    plain, params = parse_dataset_name(name, params)
    arrays = load(plain, **params) if arrays is None else arrays
    pieces = [_read_table(plain, arrays, "x_train" in arrays or "x_train_bits" in arrays, "train")]
    if "y_test" in arrays:
        if part != "all" and validation_seed.get() is None:  # in two parts: the other one is not touched
            return pieces[0] if part == "train" else _read_table(plain, arrays, True, "test")
        pieces.append(_read_table(plain, arrays, True, "test"))
    table = pieces[0]
    if len(pieces) > 1:
        table = Table(*(np.concatenate(each) for each in zip(*pieces, strict=True)))
    if part == "all":
        return table
    parts = split(plain, seed, arrays=arrays)
    rows = parts.train if part == "train" else parts.test
    return Table(table.features[rows], table.targets[rows])


def _read_table(name: str, arrays: Arrays, split_in_two: bool, part: str) -> Table:
    import numpy as np

    if f"x_{part}_bits" in arrays:
        bits = np.unpackbits(arrays[f"x_{part}_bits"], axis=1)
        return Table(bits[:, : int(arrays["n_features"])], arrays[f"y_{part}"])
    keys = (f"x_{part}", f"y_{part}") if split_in_two else ("X" if "X" in arrays else "x", "y")
    if not set(keys) <= arrays.keys():
        raise DataError(
            f"data set '{name}' is not a table: it needs X (or x, x_train) and y (or y_train), "
            f"and has {', '.join(sorted(arrays))}"
        )
    features, targets = (arrays[key] for key in keys)
    if len(features) != len(targets):
        raise DataError(
            f"data set '{name}' has {len(features):,} rows of {keys[0]} and {len(targets):,} of {keys[1]}"
        )
    return Table(features, targets)


def _as_rows(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the numbers of rows; of a mask those that it marks."""
    import numpy as np

    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64)


def _stored_split(arrays: Mapping[str, np.ndarray[Any, Any]], seed: int) -> Split | None:
    """Return the split that travels with the arrays, or None."""
    import numpy as np

    if "train_idx" in arrays:
        train = _as_rows(arrays["train_idx"])
        rest = arrays.get("test_idx", np.setdiff1d(np.arange(_num_rows(arrays)), train))
        return Split(train, _as_rows(rest), "stored with the data")
    for key in ("probe", "test"):
        if key in arrays and "n" in arrays:
            mask = np.unpackbits(arrays[key])[: int(arrays["n"])].astype(bool)
            return Split(np.flatnonzero(~mask), np.flatnonzero(mask), f"stored with the data, as '{key}'")
    if "test_mask" in arrays:
        masks = np.unpackbits(arrays["test_mask"], axis=0)[: len(arrays["y"])].astype(bool)
        number = seed % masks.shape[1]
        mask = masks[:, number]
        return Split(np.flatnonzero(~mask), np.flatnonzero(mask), f"stored with the data, number {number}")
    if "y_train" in arrays and "y_test" in arrays:
        rows = np.arange(len(arrays["y_train"]) + len(arrays["y_test"]))
        parts = np.split(rows, [len(arrays["y_train"])])
        return Split(parts[0], parts[1], "stored with the data, in two parts")
    return None


def _num_rows(arrays: Mapping[str, np.ndarray[Any, Any]]) -> int:
    if "indptr" in arrays:
        return len(arrays["indptr"]) - 1
    key = next((key for key in ("y", "y_train", "rating", "user", "unix_time") if key in arrays), min(arrays))
    return len(arrays[key])


def _split_fraction(arrays: Arrays, seed: int, percent: int = 10) -> Split:
    """Return `percent` of the rows, rounded, as test rows."""
    import numpy as np

    rows = _num_rows(arrays)
    order = _rng(seed).permutation(rows)
    count = (rows * percent + 50) // 100
    return Split(
        np.sort(order[count:]), np.sort(order[:count]), f"{percent} % of the rows, drawn from the seed"
    )


def _split_first(arrays: Arrays, _seed: int, count: int) -> Split:
    """Return the first `count` rows for training and the rest for testing."""
    import numpy as np

    rows = np.arange(_num_rows(arrays))
    return Split(rows[:count], rows[count:], f"the first {count:,} rows train, the others test")


def _split_heads(arrays: Arrays, _seed: int, percent: int) -> Split:
    """Return the first `percent` of each class, rounded up, as test rows."""
    import numpy as np

    labels = arrays["y"]
    heads = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    test = np.sort(np.concatenate([rows[: -(-len(rows) * percent // 100)] for rows in heads]))
    train = np.setdiff1d(np.arange(len(labels)), test)
    return Split(train, test, f"the first {percent} % of each class, in file order, test")


def _split_gaps(arrays: Arrays, seed: int, rows: int, gaps: int, length: int) -> Split:
    """Return, of the first `rows`, `gaps` runs of `length` as test rows; no two touch, none at an end."""
    import numpy as np

    rows = min(rows, _num_rows(arrays))
    spare = rows - gaps * (length + 1) - 1
    if spare < 0:
        raise DataError(f"{gaps} gaps of {length} rows do not fit into {rows} rows")
    offsets = np.sort(_rng(seed).integers(0, spare + 1, size=gaps))
    starts = 1 + offsets + np.arange(gaps) * (length + 1)
    test = (starts[:, None] + np.arange(length)).reshape(-1)
    train = np.setdiff1d(np.arange(rows), test)
    return Split(train, test, f"of the first {rows:,} rows {gaps} gaps of {length}, drawn from the seed")


def split_documents(arrays: Arrays, seed: int = 0) -> np.ndarray[Any, Any]:
    """Return how many tokens of each (document, word) cell fall into the document's first half, (nnz,).

    As stored, where it is stored as `half1`; else each document's tokens are dealt out by the seed.
    """
    import numpy as np

    if "half1" in arrays:
        return arrays["half1"]
    counts = arrays["data"].astype(np.int64)
    documents = np.repeat(np.arange(len(arrays["indptr"]) - 1), np.diff(arrays["indptr"]))
    cells = np.repeat(np.arange(len(counts)), counts)
    owners = np.repeat(documents, counts)
    order = np.lexsort((_rng(seed, 1).bits(len(cells)), owners))
    sizes = np.bincount(owners, minlength=len(arrays["indptr"]) - 1)
    rank = np.arange(len(cells)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = rank < np.repeat(sizes // 2, sizes)
    return np.bincount(cells[order][first], minlength=len(counts)).astype(arrays["data"].dtype)


def _rng(seed: int, offset: int = 0) -> Rng:
    from benchfw.backends import Rng, get_backend

    return Rng(get_backend("numpy"), seed, STREAM + offset)


def deviations(values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the standard deviation of each column, or of a vector; exactly 0 where all values are the same.

    The mean of a constant column is off by a rounding error, and so would be its deviation.
    """
    import numpy as np

    varies = values.min(axis=0) < values.max(axis=0)
    return np.where(varies, values.std(axis=0, dtype=np.float64), 0.0)


RULES: Mapping[str, Callable[..., Split]] = {
    "fraction": _split_fraction,
    "first": _split_first,
    "heads": _split_heads,
    "gaps": _split_gaps,
}
