"""On a GPU: the statistics of large draws are found there, and are those of the host."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.analysis.variance import DrawStatistics
from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.measure.estimators import LARGE
from benchfw.measure.trial import collector, run_trial
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry

try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

LARGE_RATINGS = {"dataset": "movielens-like(users=400, items=300, ratings=9000)"}
CHEBYSHEV = {"probes": 20, "distribution": {"use": "optimal", "mean": 10}}


@pytest.mark.parametrize("unit", [1.0, 1e-120, 1e120])
def test_draws_on_the_device_have_the_statistics_of_the_same_draws_on_the_host(unit):
    draws = unit * np.random.default_rng(3).standard_normal((40, 50, 3))
    exact = np.full((50, 3), 0.01 * unit)
    host, device = DrawStatistics(exact), DrawStatistics(CUPY.asarray(exact))
    for draw in draws:
        host.add(draw)
        device.add(CUPY.asarray(draw))
    assert device.metrics() == pytest.approx(host.metrics(), rel=1e-10)
    assert device.relative_half_width() == pytest.approx(host.relative_half_width(), rel=1e-10)


def test_a_trial_with_large_draws_has_the_records_of_the_host():
    problem, method = Spec("matrix-completion", LARGE_RATINGS), Spec("chebyshev", CHEBYSHEV)
    assert LARGE <= 400 * 300
    found = []
    for backend in ("numpy", "cupy"):
        records, emit = collector()
        run_trial(Trial("estimator", problem, method, backend, 1, 0, Budget(iterations=5)), Registry(), emit)
        found.append({(each.metric, each.iteration): each.value for each in records})
    host, device = found
    assert device == pytest.approx(host, rel=1e-6)
