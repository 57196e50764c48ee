"""What a Gaussian process learns from: which rows train, which test, and where hyperparameters start."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError
from benchfw.data import deviations, load, load_table, split

Array = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

SOUND_POINTS = 35_000  # as many training samples as the paper takes of the 59,309


class Start(NamedTuple):
    """Standard deviations of noise and signal, and a length in the unit of the inputs."""

    noise: float
    scale: float
    length: float


class RegressionData(NamedTuple):
    """Inputs (d, p) and targets (d,) of mean 0 to learn from, others to test on, in float64."""

    inputs: Array
    targets: Array
    test_inputs: Array
    test_targets: Array
    start: Start


def regression_data(name: str, points: int | None = None) -> RegressionData:
    """Return the data set of this name, its first `points` training rows only where that is said.

    sound: sample number -> amplitude, the first 35,000 samples outside the stored gaps.
    szeged-weather: hours -> humidity, the first two years less 59 gaps of ten hours.
    Any other table: standardized features -> standardized target, by its own split or a tenth to test.
    Of one-dimensional inputs those to test are the ones between training inputs: nothing is extrapolated.
    """
    arrays = load(name)
    if "humidity" in arrays:
        hours = (arrays["unix_time"] - arrays["unix_time"][0]) / 3600
        data = _series(name, arrays, hours, arrays["humidity"], points, Start(0.1, 0.3, 20.0))
    elif set(arrays) >= {"y", "test", "n"}:
        samples = np.arange(1.0, len(arrays["y"]) + 1)
        data = _series(name, arrays, samples, arrays["y"], points or SOUND_POINTS, Start(0.02, 0.05, 20.0))
    else:
        data = _table(name, arrays, points)
    return _between(name, data) if data.inputs.shape[1] == 1 else data


def _series(
    name: str, arrays: Arrays, inputs: Array, values: NDArray[Any], points: int | None, start: Start
) -> RegressionData:
    """Return a series in its own units, the mean of the training values taken off all values."""
    train, test, _ = split(name, arrays=arrays)
    train = train[:points]
    targets = values.astype(np.float64) - values[train].mean(dtype=np.float64)
    return RegressionData(inputs[train, None], targets[train], inputs[test, None], targets[test], start)


def _table(name: str, arrays: Arrays, points: int | None) -> RegressionData:
    """Return a table in units of its training rows: mean 0 and variance 1 in every column that varies."""
    train = load_table(name, "train", arrays=arrays)
    test = load_table(name, "test", arrays=arrays)
    rows, values = train.features[:points].astype(np.float64), train.targets[:points].astype(np.float64)
    centre, spread = rows.mean(axis=0), deviations(rows)
    varying = spread > 0  # a constant column tells no two points apart
    deviation = float(deviations(values))
    if not varying.any() or not deviation > 0:
        raise BenchfwError(f"features or targets of '{name}' are constant over its {len(rows)} training rows")
    inputs, test_inputs = (
        ((each - centre) / np.where(varying, spread, 1.0))[:, varying] for each in (rows, test.features)
    )
    targets, test_targets = ((each - values.mean()) / deviation for each in (values, test.targets))
    # two standardized points are about √(2p) apart
    start = Start(0.5, 1.0, float(np.sqrt(inputs.shape[1])))
    return RegressionData(inputs, targets, test_inputs, test_targets, start)


def _between(name: str, data: RegressionData) -> RegressionData:
    """Return the data less the test points outside the training inputs."""
    places = data.test_inputs[:, 0]
    inside = (places > data.inputs.min()) & (places < data.inputs.max())
    if not inside.any():
        raise BenchfwError(
            f"no test input of '{name}' lies between its first {len(data.inputs)} training inputs; "
            "take more points"
        )
    return data._replace(test_inputs=data.test_inputs[inside], test_targets=data.test_targets[inside])
