"""Data sets of OpenML: `openml:NAME` where one version is active, or `openml:NUMBER`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchfw.data import Dataset, RawFile
from benchfw.errors import DataError
from benchfw_datasets.sources.columns import assemble

if TYPE_CHECKING:
    from benchfw.data import Arrays, Ask

HOST = "https://www.openml.org"
DESCRIPTION, TABLE = "description.json", "table.arff"
MISSING = "?"  # in ARFF, unless a column declares it as a word


def find(name: str) -> Dataset:
    """Return the entry of a data set of OpenML."""
    return Dataset(
        f"openml:{name}",
        f"'{name}' of OpenML",
        licence="see its page",
        home=f"{HOST}/d/{name}" if name.isdecimal() else f"{HOST}/search?type=data&q={quote(name)}",
        find_files=partial(find_files, name),
        loader=partial(read, f"openml:{name}"),
    )


def find_files(name: str, ask: Ask) -> Sequence[RawFile]:
    """Return the files of a data set: its description and its table."""
    number = name if name.isdecimal() else _find_number(name, ask)
    address = f"{HOST}/api/v1/json/data/{number}"
    found = _read(ask(address))
    about = found.get("data_set_description") if found else None
    if not about:
        raise DataError(f"OpenML has no data set {number}")
    if str(about.get("format", "")).lower() != "arff":
        raise DataError(f"data set 'openml:{name}' comes as {about.get('format')}; benchfw reads ARFF")
    url = str(about["url"])
    secure = f"https{url.removeprefix('http')}" if url.startswith("http://www.openml.org") else url
    return [RawFile(DESCRIPTION, address), RawFile(TABLE, secure)]


def _find_number(name: str, ask: Ask) -> str:
    """Return the number of the only active version of a name."""
    found = _read(
        ask(f"{HOST}/api/v1/json/data/list/data_name/{quote(name, safe='')}/limit/20/status/active")
    )
    rows = found["data"]["dataset"] if found else []
    if not rows:
        raise DataError(f"OpenML has no active data set '{name}'; search at {HOST}/search?type=data")
    numbers = [str(each["did"]) for each in rows]
    if len(numbers) > 1:
        raise DataError(
            f"OpenML has {len(numbers)} active versions of '{name}'; "
            f"write one of {', '.join(f'openml:{each}' for each in numbers)}"
        )
    return numbers[0]


def read(name: str, files: Mapping[str, Path]) -> Arrays:
    """Return X and y of an ARFF table; what to predict is what its description says."""
    import numpy as np
    from scipy.io import arff

    about = json.loads(files[DESCRIPTION].read_text(encoding="utf-8"))["data_set_description"]
    with files[TABLE].open(encoding="utf-8", errors="replace") as file:
        table, kinds = arff.loadarff(file)
    ignored = _list_names(about.get("ignore_attribute")) + _list_names(about.get("row_id_attribute"))
    columns = {}
    for key in (each for each in kinds.names() if each not in ignored):
        values, (_, words) = table[key], kinds[key]
        missing = values.dtype.kind == "M" and bool(np.isnat(values).any())
        if values.dtype.kind != "f":
            values = np.char.decode(values.astype(bytes), "utf-8")
            missing = missing or (MISSING in values and MISSING not in (words or ()))
        if missing:
            raise DataError(f"data set '{name}': column '{key}' has missing values; leave out such rows")
        columns[key] = values
    target = str(about.get("default_target_attribute", ""))
    if not target or "," in target:
        raise DataError(f"the description of data set '{name}' names no single column to predict")
    return assemble(name, columns, target)


def _list_names(found: Any) -> list[str]:
    return [found] if isinstance(found, str) else list(found or [])


def _read(answer: bytes | None) -> Any:
    if answer is None:
        return None
    try:
        return json.loads(answer)
    except ValueError:
        raise DataError(f"{HOST} answered with something else than JSON") from None
