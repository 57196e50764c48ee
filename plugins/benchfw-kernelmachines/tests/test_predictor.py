"""Predictors: regenerated features are stored features, before and after a file."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_kernelmachines import predictor as predictor_module
from benchfw_kernelmachines.covariances import Cauchy, Gaussian, Laplace, Matern
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.predictor import FeaturePredictor, GramPredictor

BACKEND = get_backend("numpy")
DIMENSION, COUNT, OUTPUTS, BLOCKS = 5, 16, 3, 4
KINDS = pytest.mark.parametrize("kind", ["independent", "orthogonal", "quasi-monte-carlo"])


def points(rows=700, seed=1):
    return BACKEND.rng(seed).standard_normal((rows, DIMENSION), np.float32)


def predictor_of(kind="independent", covariance=None, blocks=BLOCKS):
    frequencies = get_frequencies(
        kind, BACKEND, covariance or Gaussian(2.0), DIMENSION, COUNT, seed=2**63 + 5
    )
    rng = BACKEND.rng(4)
    coefficients = tuple(rng.standard_normal((2, COUNT, OUTPUTS), np.float32) for _ in range(blocks))
    return FeaturePredictor(frequencies, coefficients, 0.25, OUTPUTS)


@KINDS
def test_scores_are_those_of_features_kept_in_memory(kind):
    made = predictor_of(kind)
    weights = np.concatenate([made.frequencies.block(number) for number in range(BLOCKS)], axis=1)
    phases = points().astype(np.float64) @ weights
    cosines, sines = np.concatenate(made.coefficients, axis=1).astype(np.float64)
    expected = made.scale * (np.cos(phases) @ cosines + np.sin(phases) @ sines)
    assert made.num_features == BLOCKS * COUNT
    assert made.predict(points()).dtype == np.float32
    # phases of a few units in float32, handed on by 128 features
    np.testing.assert_allclose(made.predict(points()), expected, rtol=0, atol=1e-5)


@KINDS
@pytest.mark.parametrize("covariance", [Gaussian(2.0), Matern(1.3, 2.5), Laplace(4.0), Cauchy(2.0)], ids=repr)
def test_a_predictor_that_was_saved_and_loaded_is_the_same(kind, covariance, tmp_path):
    if kind == "orthogonal" and not covariance.isotropic:
        return
    made = predictor_of(kind, covariance)
    made.save(tmp_path / "answer.model")
    loaded = FeaturePredictor.load(tmp_path / "answer.model", BACKEND)
    assert loaded.frequencies == made.frequencies
    np.testing.assert_array_equal(loaded.predict(points()), made.predict(points()))
    assert loaded.squared_norm() == made.squared_norm()


def test_a_file_holds_seeds_and_coefficients_only(tmp_path):
    made = predictor_of()
    made.save(tmp_path / "answer.npz")
    coefficients = sum(block.nbytes for block in made.coefficients)
    assert (tmp_path / "answer.npz").stat().st_size < coefficients + 4096
    with np.load(tmp_path / "answer.npz") as saved:
        assert max(saved[name].size for name in saved if name != "coefficients") == 2


def test_without_blocks_it_is_zero_and_can_be_saved(tmp_path):
    start = predictor_of(blocks=0)
    start.save(tmp_path / "start.npz")
    for made in (start, FeaturePredictor.load(tmp_path / "start.npz", BACKEND)):
        np.testing.assert_array_equal(made.predict(points(9)), np.zeros((9, OUTPUTS)))
        assert made.num_features == 0
        assert made.squared_norm() == 0.0


def test_the_squared_norm_of_sections_of_the_covariance_is_that_of_the_gram():
    # Σ_i a_i k(·, z_i) has the norm a'Ka; a block of its features gives an unbiased guess at it
    centres, weights = points(3, seed=6), np.array([1.0, -2.0, 0.5], dtype=np.float32)
    frequencies = get_frequencies("independent", BACKEND, Gaussian(2.0), DIMENSION, COUNT, seed=3)
    guesses = []
    for number in range(400):
        phases = centres @ frequencies.block(number)
        coefficients = np.stack([weights @ np.cos(phases), weights @ np.sin(phases)])[:, :, None]
        guesses.append(FeaturePredictor(frequencies, (coefficients,), 1 / COUNT, 1).squared_norm())
    exact = GramPredictor(Gaussian(2.0), centres, weights[:, None]).squared_norm()
    std_error = np.std(guesses, ddof=1) / np.sqrt(len(guesses))
    assert abs(np.mean(guesses) - exact) < 4 * std_error


def test_facts_are_what_the_optimizer_told():
    plain = predictor_of()
    told = FeaturePredictor(plain.frequencies, plain.coefficients, 1.0, OUTPUTS, {"accepted": 0.5})
    assert told.facts() == {"accepted": 0.5}
    assert plain.facts() == {}


@pytest.mark.parametrize("at_once", [1, 100, 1 << 24])
def test_scores_over_centres_are_sums_of_covariances(at_once, monkeypatch):
    monkeypatch.setattr(predictor_module, "PAIRS", at_once)
    centres, rows, covariance = points(11, seed=2), points(25), Matern(2.0, 1.5)
    coefficients = BACKEND.rng(5).standard_normal((11, 2), np.float32)
    offset = np.float32([0.5, -1.0])
    gram = covariance.gram(rows.astype(np.float64), centres.astype(np.float64))
    made = GramPredictor(covariance, centres, coefficients, offset)
    np.testing.assert_allclose(made.predict(rows), gram @ coefficients + offset, atol=1e-5)
    np.testing.assert_allclose(
        GramPredictor(covariance, centres, coefficients).predict(rows), gram @ coefficients, atol=1e-5
    )
    own = covariance.gram(centres.astype(np.float64), centres.astype(np.float64))
    assert made.squared_norm() == pytest.approx(np.trace(coefficients.T @ own @ coefficients), rel=1e-5)
    assert made.num_features == 11
