"""Predictors: regenerated features are stored features, before and after a file."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw_kernelmachines import predictor as predictor_module
from benchfw_kernelmachines.covariances import Cauchy, Gaussian, Laplace, Matern
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.optimizers.udsg import UDSG
from benchfw_kernelmachines.predictor import FeaturePredictor, GramPredictor
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
DIMENSION, COUNT, OUTPUTS, BLOCKS = 5, 16, 3, 4
KIND_NAMES = ("independent", "orthogonal", "quasi-monte-carlo")
KINDS = pytest.mark.parametrize("kind", KIND_NAMES)


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


@pytest.mark.parametrize(
    ("kind", "covariance"),
    [
        (kind, covariance)
        for kind in KIND_NAMES
        for covariance in (Gaussian(2.0), Matern(1.3, 2.5), Laplace(4.0), Cauchy(2.0))
        if kind != "orthogonal" or covariance.isotropic
    ],
    ids=repr,
)
def test_a_predictor_that_was_saved_and_loaded_is_the_same(kind, covariance, tmp_path):
    made = predictor_of(kind, covariance)
    made.save(tmp_path / "answer.model")
    loaded = FeaturePredictor.load(tmp_path / "answer.model", BACKEND)
    assert loaded.frequencies == made.frequencies
    np.testing.assert_array_equal(loaded.predict(points()), made.predict(points()))
    assert loaded.squared_norm() == made.squared_norm()


def test_a_predictor_without_tensor_cores_is_loaded_as_one(tmp_path):
    replace(predictor_of(), tensor_cores=False).save(tmp_path / "answer.npz")
    assert not FeaturePredictor.load(tmp_path / "answer.npz", BACKEND).tensor_cores


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


@pytest.mark.parametrize("parts", [[1.0], [1.0, 1.0], [1.0, 0.25], [1.0, -1.0]])
def test_the_squared_norm_is_that_of_the_norms_of_all_parts_added_up(parts):
    # block j stands for p_j Σ_i a_i k(·, z_i), of norm p_j² a'Ka; the sum of all has (Σ p_j)² a'Ka
    centres, weights = points(3, seed=6), np.array([1.0, -2.0, 0.5], dtype=np.float32)
    exact = GramPredictor(Gaussian(2.0), centres, weights[:, None]).squared_norm()
    guesses, wider = [], []
    for seed in range(400):
        frequencies = get_frequencies("independent", BACKEND, Gaussian(2.0), DIMENSION, COUNT, seed)
        phases = [centres @ frequencies.block(number) for number in range(len(parts))]
        blocks = [
            part * np.stack([weights @ np.cos(phase), weights @ np.sin(phase)])[:, :, None]
            for part, phase in zip(parts, phases, strict=True)
        ]
        guesses.append(FeaturePredictor(frequencies, tuple(blocks), 1 / COUNT, 1).squared_norm())
        wider.append(len(parts) / COUNT * sum(float((block**2).sum()) for block in blocks))
    expected = np.abs(parts).sum() ** 2 * exact
    std_error = np.std(guesses, ddof=1) / np.sqrt(len(guesses))
    # the mean of a root is below the root of the mean, here by a part in 4 F
    assert -4 * std_error - expected / (4 * COUNT) < np.mean(guesses) - expected < 4 * std_error
    assert (np.array(guesses) <= np.array(wider) * (1 + 1e-5)).all()  # that of equal shares


def test_the_squared_norm_bounds_the_exact_one_of_a_run():
    """|h|² = α'Kα for h = Σ_i α_i k(x_i, ·), the mean of a run over its features, by the same steps on α."""
    risk = KernelRegression(BACKEND, BACKEND.rng(0), dataset="uci-like(rows=300, features=3)", penalty=1e-3)
    everything = risk.rows(np.arange(risk.num_samples))
    kernel = risk.covariance.gram(*(everything.rows.astype(np.float64),) * 2)
    batch, steps = risk.num_samples, 12
    method = UDSG(batch=batch, block=512, step=1.0, reuse=2)
    *_, answer = islice(method.run(risk, BACKEND.rng(1)), steps + 1)
    alpha = np.zeros((batch, 1))
    for _ in range(steps):
        slope = kernel @ alpha - everything.targets
        alpha = (1 - risk.penalty) * alpha - slope / batch
    exact = float((alpha * (kernel @ alpha)).sum())
    blocks = answer.coefficients
    equal_shares = answer.num_features * answer.scale**2 * sum(float((each**2).sum()) for each in blocks)
    assert exact < answer.squared_norm() < 0.9 * equal_shares


def test_rows_of_another_width_are_refused():
    centres = GramPredictor(Gaussian(2.0), points(3), np.ones((3, 1), np.float32))
    for made in (predictor_of(), predictor_of(blocks=0), centres):
        for rows in (np.zeros((9, 4), np.float32), np.zeros(DIMENSION, np.float32)):
            with pytest.raises(BenchfwError, match=r"rows of 5 columns are wanted.*problem\.prepare"):
                made.predict(rows)


def test_a_file_that_is_no_predictor_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", coefficients=np.zeros(3))
    np.save(tmp_path / "other.npy", np.zeros(3))
    (tmp_path / "other.txt").write_text("some text")
    (tmp_path / "empty").touch()
    for path in tmp_path.iterdir():
        with pytest.raises(BenchfwError, match=f"{path.name} is not a predictor: load reads what"):
            FeaturePredictor.load(path, BACKEND)


def test_facts_are_those_of_the_optimizer():
    plain = predictor_of()
    reported = FeaturePredictor(plain.frequencies, plain.coefficients, 1.0, OUTPUTS, {"accepted": 0.5})
    assert reported.facts() == {"accepted": 0.5}
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
