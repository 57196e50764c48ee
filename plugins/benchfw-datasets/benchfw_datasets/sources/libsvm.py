"""Data sets of the LIBSVM page: `libsvm:NAME`, or `libsvm:regression/NAME` to say where it is listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from benchfw.data import Dataset, RawFile, open_raw
from benchfw.errors import DataError
from benchfw_datasets.loaders.libsvm import blocks
from benchfw_datasets.sources.columns import check_size, encode_labels

if TYPE_CHECKING:
    from benchfw.data import Arrays, Ask

HOST = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
LISTS = ("binary", "multiclass", "regression")
ENDINGS = (".xz", ".bz2", "")


def find(name: str) -> Dataset:
    """Return the entry of a data set of the LIBSVM page."""
    *lists, plain = name.split("/")
    if len(lists) > 1 or not {*lists} <= {*LISTS}:
        raise DataError(f"'libsvm:{name}' is not listed; write libsvm:NAME, or {LISTS[0]}/NAME and so on")
    return Dataset(
        f"libsvm:{name}",
        f"'{plain}' of the LIBSVM page",
        licence="see its page",
        home=f"{HOST}/{lists[0]}.html#{plain}" if lists else f"{HOST}/",
        find_files=partial(find_files, name),
        loader=partial(read, f"libsvm:{name}"),
    )


def find_files(name: str, ask: Ask) -> Sequence[RawFile]:
    """Return the file of a data set, plain or compressed, and that of its test rows if there is one."""
    *lists, plain = name.split("/")
    pages = {each: (ask(f"{HOST}/{each}.html") or b"").decode("utf-8", "replace") for each in lists or LISTS}
    found = {each: _choose(page, each, plain) for each, page in pages.items()}
    there = [each for each, file in found.items() if file]
    if not there:
        raise DataError(f"no data set '{plain}' at {HOST}; its names are listed there")
    if len(there) > 1:
        raise DataError(
            f"'{plain}' is listed at {' and '.join(there)}; write "
            + " or ".join(f"libsvm:{each}/{plain}" for each in there)
        )
    (place,) = there
    files = [found[place], _choose(pages[place], place, f"{plain}.t")]
    return [RawFile(each, f"{HOST}/{place}/{quote(each)}") for each in files if each]


def _choose(page: str, place: str, name: str) -> str:
    """Return the file of a name that a page links to, the most compressed one; empty if there is none."""
    names = [f"{name}{ending}" for ending in ENDINGS]
    return next((each for each in names if f'href="{place}/{quote(each)}"' in page), "")


def read(name: str, files: Mapping[str, Path]) -> Arrays:
    """Return X and y, or x_train, y_train, x_test and y_test where the test rows have a file of their own."""
    import numpy as np

    features = max(_count_features(path) for path in files.values())
    arrays: Arrays = {}
    for path, part in zip(files.values(), ("train", "test"), strict=False):
        rows = _count_rows(path)
        check_size(name, rows, features)
        pieces = list(blocks(path, features, np.float64))
        keys = (f"x_{part}", f"y_{part}") if len(files) > 1 else ("X", "y")
        arrays[keys[0]] = np.concatenate([x for x, _ in pieces])
        arrays[keys[1]] = np.concatenate([y for _, y in pieces])
    labels = [key for key in arrays if key.startswith("y")]
    whole = np.concatenate([arrays[key] for key in labels])
    if np.all(whole == np.round(whole)):  # classes, or counts, which stay as they are
        codes = encode_labels(whole.astype(np.int64))
        ends = np.cumsum([len(arrays[key]) for key in labels])[:-1]
        arrays |= dict(zip(labels, np.split(codes, ends), strict=True))
    return arrays


def _count_features(path: Path) -> int:
    """Return the largest index in a file; the last of each line, since they are sorted."""
    largest = 0
    with open_raw(path) as file:
        for line in file:
            last = line.rsplit(None, 1)[-1:] or [b""]
            index, colon, _ = last[0].partition(b":")
            largest = max(largest, int(index) if colon else 0)
    return largest


def _count_rows(path: Path) -> int:
    with open_raw(path) as file:
        return sum(bool(line.strip()) for line in file)
