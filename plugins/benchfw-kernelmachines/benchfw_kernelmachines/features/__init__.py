"""Random frequencies, one kind a file, and the way to them by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw_kernelmachines.features.independent import IndependentFrequencies
from benchfw_kernelmachines.features.orthogonal import OrthogonalFrequencies
from benchfw_kernelmachines.features.quasi_monte_carlo import QuasiMonteCarloFrequencies

if TYPE_CHECKING:
    from benchfw.backends import Backend
    from benchfw_kernelmachines.oracles import Covariance, Frequencies

__all__ = [
    "FEATURE_STREAM",
    "FeatureKind",
    "IndependentFrequencies",
    "OrthogonalFrequencies",
    "QuasiMonteCarloFrequencies",
    "get_frequencies",
]

FEATURE_STREAM = 3
"""The stream of a seed that features come from; an optimizer's batches come from its stream 0."""

FeatureKind: TypeAlias = Literal["independent", "orthogonal", "quasi-monte-carlo"]

KINDS: dict[str, Callable[..., Frequencies]] = {
    each.kind: each for each in (IndependentFrequencies, OrthogonalFrequencies, QuasiMonteCarloFrequencies)
}


def get_frequencies(
    kind: str,
    backend: Backend,
    covariance: Covariance,
    dimension: int,
    count: int,
    seed: int,
    stream: int = FEATURE_STREAM,
) -> Frequencies:
    """Return blocks of `count` frequencies of this kind, at the address (seed, stream)."""
    if kind not in KINDS:
        raise BenchfwError(f"unknown kind of features '{kind}'{nearest(kind, KINDS)}")
    return KINDS[kind](backend, covariance, dimension, count, seed, stream)
