"""Data sets of Hugging Face: `hf:NAME/SPLIT`, with the column to predict behind a colon: `…/train:price`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchfw.data import Dataset, RawFile
from benchfw.errors import DataError, Unavailable
from benchfw_datasets.sources.columns import assemble

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data import Arrays, Ask

HOST, SERVER = "https://huggingface.co", "https://datasets-server.huggingface.co"
TARGETS = ("label", "labels", "target", "class", "y")


def find(name: str) -> Dataset:
    """Return the entry of a split of a data set of Hugging Face."""
    place, _, target = name.partition(":")
    *parts, split = place.split("/")
    if not 1 <= len(parts) <= 3 or not all([*parts, split]):
        raise DataError(f"'hf:{name}' does not name a split; write hf:NAME/SPLIT or hf:OWNER/NAME/SPLIT")
    dataset = "/".join(parts[:2])
    return Dataset(
        f"hf:{name}",
        f"the split '{split}' of '{dataset}' of Hugging Face",
        licence="see its page",
        home=f"{HOST}/datasets/{dataset}",
        find_files=partial(find_files, dataset, parts[2] if len(parts) == 3 else "", split),
        loader=partial(read, f"hf:{name}", target),
    )


def find_files(dataset: str, config: str, split: str, ask: Ask) -> Sequence[RawFile]:
    """Return the Parquet files of a split, as the server of data sets lists them."""
    answer = ask(f"{SERVER}/parquet?dataset={quote(dataset, safe='')}")
    if answer is None:
        raise DataError(f"Hugging Face has no data set '{dataset}'; see {HOST}/datasets")
    files: list[dict[str, Any]] = json.loads(answer).get("parquet_files", [])
    of_split = [each for each in files if each["split"] == split]
    if not of_split:
        splits = ", ".join(sorted({str(each["split"]) for each in files})) or "none"
        raise DataError(f"'{dataset}' of Hugging Face has no split '{split}'; it has {splits}")
    configs = sorted({str(each["config"]) for each in of_split})
    wanted = config or (configs[0] if len(configs) == 1 else "")
    if wanted not in configs:
        names = " or ".join(f"hf:{dataset}/{each}/{split}" for each in configs[:5])
        raise DataError(f"'{dataset}' of Hugging Face has {len(configs)} configurations; write {names}")
    chosen = [each for each in of_split if each["config"] == wanted]
    return [RawFile(f"{number:04d}.parquet", str(each["url"])) for number, each in enumerate(chosen)]


def read(name: str, target: str, files: Mapping[str, Path]) -> Arrays:
    """Return X and y of Parquet files."""
    try:
        from pyarrow import concat_tables, parquet
    except ImportError as fault:
        raise Unavailable("pyarrow is not installed; pip install pyarrow") from fault

    table = concat_tables([parquet.read_table(path) for _, path in sorted(files.items())])
    columns = {key: _values(name, key, table.column(key)) for key in table.column_names}
    guessed = [each for each in columns if each.lower() in TARGETS]
    if not target and len(guessed) != 1:
        raise DataError(
            f"it is not clear which column of data set '{name}' to predict; write '{name}:COLUMN' with "
            f"one of {', '.join([*columns][:20])}"
        )
    return assemble(name, columns, target or guessed[0])


def _values(name: str, key: str, column: Any) -> np.ndarray[Any, Any]:
    import numpy as np
    from pyarrow import types

    kind = column.type
    if not (types.is_primitive(kind) or types.is_string(kind) or types.is_large_string(kind)):
        raise DataError(
            f"column '{key}' of data set '{name}' has the type {kind}; benchfw takes numbers and words"
        )
    if column.null_count:
        raise DataError(f"column '{key}' of data set '{name}' has {column.null_count:,} missing values")
    values: np.ndarray[Any, Any] = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else np.asarray(values)
