"""Time series."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import open_text

if TYPE_CHECKING:
    from benchfw.data import Arrays

PRECIPITATION = {"null": 0, "": 0, "rain": 1, "snow": 2}
COLUMNS = {
    "temp_c": "Temperature (C)",
    "apparent_c": "Apparent Temperature (C)",
    "humidity": "Humidity",
    "wind_kmh": "Wind Speed (km/h)",
    "bearing_deg": "Wind Bearing (degrees)",
    "visibility_km": "Visibility (km)",
    "pressure_mb": "Pressure (millibars)",
}


def sound(files: Mapping[str, Path]) -> Arrays:
    """Return y, the bit mask `test`, n, and the starting hyperparameters where they are stored."""
    import numpy as np
    from scipy.io import loadmat

    (path,) = files.values()
    found: dict[str, Any] = loadmat(path, struct_as_record=True, squeeze_me=True)
    mask = np.isin(np.ravel(found["xfull"]), np.ravel(found["xtest"]))
    arrays: Arrays = {
        "y": np.ravel(found["yfull"]).astype(np.float32),
        "test": np.packbits(mask),
        "n": np.array(mask.size, dtype=np.int64),
    }
    start = found.get("hypc")
    if start is not None and {"cov", "lik"} <= set(getattr(start.dtype, "names", None) or ()):
        logarithms = [np.ravel(np.asarray(start[key].tolist(), dtype=np.float64)) for key in ("cov", "lik")]
        arrays["hyp_ell_sf_sn"] = np.exp(np.concatenate(logarithms))
    return arrays


def szeged_weather(files: Mapping[str, Path]) -> Arrays:
    """Return the columns of weatherHistory.csv, sorted by time; equal times keep their order."""
    import csv
    from datetime import datetime

    import numpy as np

    (path,) = files.values()
    with open_text(path, "weatherHistory.csv") as file:
        rows = list(csv.DictReader(file))
    times = [datetime.strptime(row["Formatted Date"], "%Y-%m-%d %H:%M:%S.%f %z") for row in rows]
    seconds = np.array([int(each.timestamp()) for each in times], dtype=np.int32)
    order = np.argsort(seconds, kind="stable")
    precipitation = np.array([PRECIPITATION[row["Precip Type"]] for row in rows], dtype=np.int8)
    arrays: Arrays = {"unix_time": seconds[order], "precip": precipitation[order]}
    for name, column in COLUMNS.items():
        arrays[name] = np.array([float(row[column]) for row in rows]).astype(np.float32)[order]
    return arrays
