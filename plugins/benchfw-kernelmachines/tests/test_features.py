"""Blocks of frequencies: unbiased by themselves, and the same whenever they are made."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.analysis.variance import DrawStatistics
from benchfw.backends import Rng, get_backend
from benchfw_kernelmachines.covariances import Cauchy, Gaussian, Laplace, Matern
from benchfw_kernelmachines.features import FEATURE_STREAM, get_frequencies

BACKEND = get_backend("numpy")
COVARIANCES = [Gaussian(2.0), Laplace(6.0), Cauchy(2.0), *(Matern(2.0, nu) for nu in (0.5, 1.5, 2.5))]
KINDS = ["independent", "orthogonal", "quasi-monte-carlo"]
PAIRS = [
    pytest.param(kind, covariance, id=f"{kind}-{covariance!r}")
    for kind in KINDS
    for covariance in COVARIANCES
    if kind != "orthogonal" or covariance.isotropic
]
EACH = pytest.mark.parametrize(("kind", "covariance"), PAIRS)


def products(kind, covariance, count, blocks):
    """Return φ(x)'φ(y) of every block, frequency and pair of rows, (blocks, count, 6), and k(x - y), (6,)."""
    rows = BACKEND.rng(8).standard_normal((4, 4), np.float32)
    one, other = np.triu_indices(4, 1)
    frequencies = get_frequencies(kind, BACKEND, covariance, 4, count, seed=17)
    phases = np.stack([(rows @ frequencies.block(number)).T for number in range(blocks)])
    found = np.cos(phases)[..., one] * np.cos(phases)[..., other]
    found += np.sin(phases)[..., one] * np.sin(phases)[..., other]
    rows = rows.astype(np.float64)
    return found.astype(np.float64), covariance.gram(rows, rows)[one, other]


@EACH
def test_features_have_the_covariance_as_the_mean_of_their_products(kind, covariance):
    found, expected = products(kind, covariance, count=6, blocks=250)
    # over the blocks, which are independent: each frequency by itself, and all of a block
    for values in (found, found.mean(axis=1)):
        std_error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert np.abs((values.mean(axis=0) - expected) / std_error).max() < 4


@EACH
@pytest.mark.parametrize(("dimension", "count"), [(1, 1), (1, 4), (5, 3), (3, 5), (4, 8)])
def test_a_block_has_its_shape_and_is_always_the_same(kind, covariance, dimension, count):
    made, again = (get_frequencies(kind, BACKEND, covariance, dimension, count, seed=3) for _ in range(2))
    later, first = made.block(7), made.block(0)
    assert first.shape == (dimension, count)
    assert first.dtype == np.float32
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(again.block(0), first)
    np.testing.assert_array_equal(again.block(7), later)
    assert (first != later).any()


@EACH
@pytest.mark.parametrize("numbers", [[0], [2, 3, 4], [5, 1, 2, 9]], ids=str)
def test_several_blocks_at_once_are_the_blocks_side_by_side(kind, covariance, numbers):
    frequencies = get_frequencies(kind, BACKEND, covariance, 3, 5, seed=3)
    one_by_one = np.concatenate([frequencies.block(number) for number in numbers], axis=1)
    np.testing.assert_array_equal(frequencies.blocks(numbers), one_by_one)


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_or_stream_gives_other_frequencies(kind):
    blocks = [
        get_frequencies(kind, BACKEND, Gaussian(1.0), 3, 4, seed, stream).block(0)
        for seed, stream in [(1, FEATURE_STREAM), (2, FEATURE_STREAM), (1, 9)]
    ]
    assert (blocks[0] != blocks[1]).any()
    assert (blocks[0] != blocks[2]).any()


def test_independent_frequencies_are_normals_by_their_address():
    frequencies = get_frequencies("independent", BACKEND, Gaussian(2.0), 3, 8, seed=5)
    drawn = Rng(BACKEND, 5, FEATURE_STREAM, 4).standard_normal((3, 8), np.float32)
    np.testing.assert_array_equal(frequencies.block(4), drawn / np.float32(2.0))


@pytest.mark.parametrize("covariance", [Gaussian(2.0), Matern(1.0, 0.5)], ids=repr)
def test_orthogonal_frequencies_are_orthogonal_and_keep_their_lengths(covariance):
    independent, orthogonal = (
        get_frequencies(kind, BACKEND, covariance, 6, 15, seed=5).block(2).astype(np.float64)
        for kind in ("independent", "orthogonal")
    )
    lengths = np.linalg.norm(orthogonal, axis=0)
    np.testing.assert_allclose(lengths, np.linalg.norm(independent, axis=0), rtol=1e-6)
    directions = orthogonal / lengths
    for first in (0, 6, 12):
        some = directions[:, first : first + 6]
        np.testing.assert_allclose(some.T @ some, np.eye(some.shape[1]), atol=1e-6)


@pytest.mark.parametrize("covariance", [Laplace(1.0), Cauchy(1.0)], ids=repr)
def test_orthogonal_frequencies_refuse_covariances_of_single_coordinates(covariance):
    with pytest.raises(BenchfwError, match=f"and {covariance.name} is not one; take gaussian or matern"):
        get_frequencies("orthogonal", BACKEND, covariance, 3, 4, seed=1)


@pytest.mark.parametrize("kind", ["orthogonal", "quasi-monte-carlo"])
def test_what_is_not_independent_varies_less(kind):
    plain, better = DrawStatistics(), DrawStatistics()
    for found, each in ((plain, "independent"), (better, kind)):
        for block in products(each, Gaussian(2.0), count=64, blocks=100)[0].mean(axis=1):
            found.add(block)
    error = np.hypot(plain.variance_std_error, better.variance_std_error)
    assert better.variance < plain.variance - 4 * error


def test_sobol_points_of_too_many_dimensions_are_refused():
    for covariance, dimension in ((Gaussian(1.0), 21_202), (Laplace(1.0), 10_601)):
        with pytest.raises(
            BenchfwError, match="need Sobol points of more than 21,201; take independent ones"
        ):
            get_frequencies("quasi-monte-carlo", BACKEND, covariance, dimension, 4, seed=1)


def test_an_unknown_kind_is_answered_with_the_nearest():
    with pytest.raises(BenchfwError, match="unknown kind of features 'ortogonal'; did you mean 'orthogonal'"):
        get_frequencies("ortogonal", BACKEND, Gaussian(1.0), 3, 4, seed=1)
