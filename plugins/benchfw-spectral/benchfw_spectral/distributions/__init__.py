"""The laws of the degree at which a Chebyshev series is cut, one a file.

A law gives the tails t_j = P(n >= j): the coefficient of degree j is divided by t_j, and no draw is biased.
`decay` is the ρ of a series with |b_j| ~ ρ^-j; laws that do not look at the series do without it.
"""

from benchfw_spectral.distributions.deterministic import Deterministic
from benchfw_spectral.distributions.geometric import Geometric
from benchfw_spectral.distributions.negative_binomial import NegativeBinomial
from benchfw_spectral.distributions.optimal import Optimal
from benchfw_spectral.distributions.oracle import FittedOracle, Oracle
from benchfw_spectral.distributions.poisson import Poisson

__all__ = [
    "Deterministic",
    "FittedOracle",
    "Geometric",
    "NegativeBinomial",
    "Optimal",
    "Oracle",
    "Poisson",
]
