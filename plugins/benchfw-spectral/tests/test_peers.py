"""The wrappers of other libraries, against our own estimators where they are installed."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.errors import Unavailable
from benchfw_spectral.estimators.lanczos import Lanczos
from benchfw_spectral.peers.imate import PeerImate
from benchfw_spectral.peers.linear_operator import PeerLinearOperator
from benchfw_spectral.peers.matfree import PeerMatfree
from benchfw_spectral.peers.primate import PeerPrimate
from benchfw_spectral.problems.spectral_sum import SpectralSumProblem

EVERY = {
    "imate": (PeerImate, "imate"),
    "linear_operator": (PeerLinearOperator, "linear_operator"),
    "matfree": (PeerMatfree, "matfree"),
    "primate": (PeerPrimate, "scikit-primate"),
}
MATRICES = ["laplacian-2d", "rbf"]


def installed(library):
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"{library} is not installed")


PRESENT = [pytest.param(kind, id=name, marks=installed(name)) for name, (kind, _) in EVERY.items()]


def build(backend, **params):
    return SpectralSumProblem(backend, backend.rng(1), **{"size": 400, "shift": 0.3, **params})


@pytest.mark.parametrize("name", EVERY)
def test_an_absent_peer_says_what_to_install(backend, monkeypatch, name):
    kind, distribution = EVERY[name]
    for module in [each for each in sys.modules if each.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)  # how Python remembers that there is no such module
    sentence = f"{distribution} is not installed; pip install 'benchfw-spectral\\[peers\\]'"
    with pytest.raises(Unavailable, match=sentence):
        kind().draw(build(backend), backend.rng(1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("kind", PRESENT)
def test_peers_estimate_the_log_determinant(backend, kind, matrix):
    problem = build(backend, matrix=matrix)
    rng = backend.rng(3)
    values = np.array([kind(probes=10, steps=30).draw(problem, rng)(None) for _ in range(12)])
    assert abs(values.mean() - problem.value()) < 5 * values.std(ddof=1) / 12**0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("kind", [each for each in PRESENT if each.id in {"matfree", "primate"}])
def test_peers_that_take_our_probes_agree_with_lanczos(backend, kind, matrix):
    problem = build(backend, matrix=matrix)
    peer = kind(probes=5, steps=25).draw(problem, backend.rng(2)).estimate(None)
    own = Lanczos(probes=5, steps=25).draw(problem, backend.rng(2)).estimate(None)
    np.testing.assert_allclose(peer, own, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PRESENT)
def test_a_draw_of_a_peer_is_deterministic_and_its_products_are_counted(backend, kind):
    problem = build(backend)
    draw = kind(probes=4, steps=10).draw(problem, backend.rng(2))
    before = problem.cost
    first = draw(None)
    assert problem.cost - before in {40.0, 44.0}  # linear_operator multiplies once more a probe
    assert draw(None) == pytest.approx(first, rel=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PRESENT)
def test_peers_refuse_a_matrix_that_is_not_stored(backend, kind):
    with pytest.raises(BenchfwError, match="needs the matrix itself, and this problem has only products"):
        kind().draw(build(backend, matrix="spectrum"), backend.rng(1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [each for each in PRESENT if each.id != "primate"])
def test_peers_refuse_functions_that_they_do_not_have(backend, kind):
    with pytest.raises(BenchfwError, match=r"has no tr xlogx\(A\) here; it has log"):
        kind().draw(build(backend, function="xlogx"), backend.rng(1))
