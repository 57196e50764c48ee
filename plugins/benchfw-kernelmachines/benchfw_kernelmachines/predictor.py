"""Answers of kernel machines: sums over random features, and sums over centres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Backend
from benchfw_kernelmachines.covariances import get_covariance
from benchfw_kernelmachines.covariances.row_tiles import by_rows
from benchfw_kernelmachines.kernels.random_features import feature_scores
from benchfw_kernelmachines.oracles import Covariance, Frequencies

PAIRS = 1 << 24  # of rows and centres at once


@dataclass(frozen=True)
class FeaturePredictor:
    """f(x) = scale Σ_j Φ_j(x) A_j, with features that are regenerated whenever f is evaluated.

    `notes` are numbers of the optimizer about this answer. `tensor_cores` says how a GPU multiplies float32:
    in halves on those, or plainly. Dai et al. 2014.
    """

    frequencies: Frequencies
    coefficients: tuple[Array, ...]  # A_j, (2, F, C)
    scale: float
    num_outputs: int  # C
    notes: Mapping[str, float] = field(default_factory=dict)
    tensor_cores: bool = True

    @property
    def num_features(self) -> int:
        """The number of frequencies."""
        return len(self.coefficients) * self.frequencies.count

    def predict(self, rows: Array) -> Array:
        """Return f at rows, (n, d) -> (n, C)."""
        _check_columns(rows, self.frequencies.dimension)
        features = self.frequencies.blocks, self.coefficients
        sums = feature_scores(rows, *features, self.num_outputs, self.tensor_cores)
        return sums * float(self.scale)

    def squared_norm(self) -> float:
        """Return F scale² (Σ_j |A_j|)², a bound above |f|² with respect to the features that were drawn.

        F scale² |A_j|² is the squared norm of the part f_j of block j, and |Σ_j f_j| is at most Σ_j |f_j|:
        equal to it where all parts are multiples of one function, and where there is one block.
        """
        norms = float(sum((block * block).sum() ** 0.5 for block in self.coefficients))
        return self.frequencies.count * float(self.scale) ** 2 * norms**2

    def facts(self) -> Mapping[str, float]:
        """Return what the optimizer reported."""
        return self.notes

    def save(self, path: str | Path) -> None:
        """Write what makes f to a file of the format npz, and how it is computed; not the notes."""
        frequencies, blocks = self.frequencies, self.coefficients
        shape = (len(blocks), 2, frequencies.count, self.num_outputs)
        coefficients = np.empty(shape, dtype=np.float32)
        for number, block in enumerate(blocks):
            coefficients[number] = frequencies.backend.to_numpy(block)
        with Path(path).open("wb") as file:  # a path of its own would get another suffix
            np.savez(
                file,
                kind=frequencies.kind,
                dimension=frequencies.dimension,
                address=np.array([frequencies.seed, frequencies.stream], dtype=np.uint64),
                covariance=frequencies.covariance.name,
                **vars(frequencies.covariance),
                coefficients=coefficients,
                scale=self.scale,
                tensor_cores=self.tensor_cores,
            )

    @classmethod
    def load(cls, path: str | Path, backend: Backend) -> FeaturePredictor:
        """Return the predictor that `save` wrote, on this backend."""
        # late: problems import this file, and only this needs them
        from zipfile import BadZipFile

        from benchfw_kernelmachines.features import get_frequencies

        try:
            with np.load(path) as saved:
                parameters = {name: float(saved[name]) for name in ("length", "smoothness") if name in saved}
                covariance = get_covariance(str(saved["covariance"]), **parameters)
                blocks, scale = saved["coefficients"], float(saved["scale"])
                _, _, count, num_outputs = blocks.shape
                place = (int(saved["dimension"]), count, *map(int, saved["address"]))
                frequencies = get_frequencies(str(saved["kind"]), backend, covariance, *place)
                tensor_cores = bool(saved["tensor_cores"])
        except (KeyError, ValueError, TypeError, EOFError, BadZipFile) as fault:
            raise BenchfwError(
                f"{path} is not a predictor: load reads what FeaturePredictor.save wrote"
            ) from fault
        coefficients = tuple(map(backend.asarray, blocks))
        return cls(frequencies, coefficients, scale, num_outputs, tensor_cores=tensor_cores)


@dataclass(frozen=True)
class GramPredictor:
    """f(x) = Σ_i k(x - z_i) a_i + offset, over centres z_i: training rows, support vectors or others."""

    covariance: Covariance
    centres: Array  # (k, d)
    coefficients: Array  # (k, C)
    offset: Array | None = None  # (C,)

    @property
    def num_features(self) -> int:
        """The number of centres."""
        return int(self.centres.shape[0])

    def predict(self, rows: Array) -> Array:
        """Return f at rows, (n, d) -> (n, C)."""
        _check_columns(rows, self.centres.shape[1])
        sums = self._sums(rows)
        return sums if self.offset is None else sums + self.offset

    def squared_norm(self) -> float:
        """Return |f|² in the space of the covariance, without the offset."""
        return float((self.coefficients * self._sums(self.centres)).sum())

    def _sums(self, rows: Array) -> Array:
        return by_rows(
            lambda some: self.covariance.gram(some, self.centres) @ self.coefficients,
            rows,
            self.num_features,
            PAIRS,
        )


def _check_columns(rows: Array, dimension: int) -> None:
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise BenchfwError(
            f"rows of {dimension} columns are wanted, and these are {rows.shape}; "
            "problem.prepare makes rows of features as stored"
        )
