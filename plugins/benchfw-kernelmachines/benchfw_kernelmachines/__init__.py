"""Kernel machines: doubly stochastic gradients that use old coordinates, what they are compared with, data.

Every name is imported when it is first used, so that the command line starts no slower for this package.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchfw import hookimpl
from benchfw.loading import attributes_at, make_kernel_registrar, make_registrar

benchfw_api = 1

PROBLEMS = {
    "kernel-classification": "problems.kernel_classification:KernelClassification",
    "kernel-regression": "problems.kernel_regression:KernelRegression",
    "functional-gradient": "problems.functional_gradient:FunctionalGradient",
}
ESTIMATORS = {"doubly-stochastic": "estimators.doubly_stochastic:DoublyStochastic"}
OPTIMIZERS = {
    "dsg": "optimizers.dsg:DSG",
    "udsg": "optimizers.udsg:UDSG",
    "cdsg": "optimizers.cdsg:CDSG",
    "random-features-svrg": "optimizers.random_features_svrg:RandomFeaturesSVRG",
    "random-features-sgd": "optimizers.random_features_sgd:RandomFeaturesSGD",
    "random-features-ridge": "optimizers.random_features_ridge:RandomFeaturesRidge",
    "nystrom-ridge": "optimizers.nystrom_ridge:NystromRidge",
    "kernel-ridge-exact": "optimizers.kernel_ridge_exact:KernelRidgeExact",
    "libsvm": "optimizers.libsvm:LIBSVM",
    "peer-falkon": "peers.falkon:PeerFalkon",
    "small-network": "peers.small_network:SmallNetwork",
}
OTHERS: tuple[str, ...] = ("covariances:get_covariance", "features:get_frequencies", "losses:get_loss")
OTHERS += ("predictor:FeaturePredictor", "predictor:GramPredictor")
OTHERS += tuple(
    f"oracles:{name}" for name in ("Batch", "Covariance", "Frequencies", "KernelRisk", "Loss", "Predictor")
)
KERNELS = {
    "block_check": ("largest_steps",),
    "feature_ridge": ("feature_ridge",),
    "random_features": ("feature_gram", "feature_products", "feature_scores"),
    "softmax": ("softmax_derivative", "softmax_loss"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""

register_problems = hookimpl(make_registrar(__name__, PROBLEMS))
register_estimators = hookimpl(make_registrar(__name__, ESTIMATORS))
register_optimizers = hookimpl(make_registrar(__name__, OPTIMIZERS))
register_kernels = hookimpl(make_kernel_registrar(__name__, KERNELS))


@hookimpl
def register_suites(register: Callable[[Path], None]) -> None:
    """Add the suites."""
    register(Path(__file__).parent / "suites")


__getattr__, __dir__ = attributes_at(
    __name__, PROBLEMS.values(), ESTIMATORS.values(), OPTIMIZERS.values(), OTHERS
)
