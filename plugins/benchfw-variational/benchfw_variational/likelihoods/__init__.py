"""Likelihoods p(y|z) of one example, one a file, and the way to them by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw.parameters import fits, misfit, parameters_of
from benchfw_variational.likelihoods.bernoulli_logit import BernoulliLogit
from benchfw_variational.likelihoods.bernoulli_probit import BernoulliProbit
from benchfw_variational.likelihoods.gaussian import Gaussian
from benchfw_variational.likelihoods.laplace import Laplace
from benchfw_variational.likelihoods.poisson import Poisson
from benchfw_variational.likelihoods.student_t import StudentT
from benchfw_variational.oracles import Likelihood

__all__ = [
    "BernoulliLogit",
    "BernoulliProbit",
    "Gaussian",
    "Laplace",
    "Poisson",
    "StudentT",
    "get_likelihood",
]

_KNOWN: dict[str, Any] = {
    kind.name: kind for kind in (BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson, StudentT)
}


def get_likelihood(name: str | Mapping[str, Any], **parameters: float) -> Likelihood:
    """Return the likelihood of this name; `parameters` are the fields of its class.

    Both may come in one table, as { name = "student-t", degrees = 3.0 } in a suite.
    """
    if isinstance(name, Mapping):
        if "name" not in name:
            raise BenchfwError('the table of a likelihood needs its name, as in { name = "student-t" }')
        return get_likelihood(**{**name, **parameters})
    if name not in _KNOWN:
        raise BenchfwError(f"unknown likelihood '{name}'{nearest(str(name), _KNOWN)}")
    legal = parameters_of(_KNOWN[name])
    for parameter, value in parameters.items():
        if parameter not in legal:
            close = nearest(parameter, legal)
            raise BenchfwError(f"the likelihood '{name}' has no parameter '{parameter}'{close}")
        if not fits(value, legal[parameter].hint):
            raise BenchfwError(
                f"{misfit(parameter, value, legal[parameter].hint)}, in the likelihood '{name}'"
            )
    likelihood: Likelihood = _KNOWN[name](**parameters)
    return likelihood
