"""Problems on data sets by name."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_firstorder import Lasso, LeastSquares, LogisticRegression


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    features = rng.normal(2.0, 3.0, (40, 4))
    features[:, 3] = 0.1  # whose computed deviation is not 0
    np.savez(tmp_path / "line.npz", x=features, y=rng.normal(size=40))
    np.savez(tmp_path / "signs.npz", X=features, y=np.tile([0, 7], 20), train_idx=np.arange(30))
    bits = np.packbits(rng.integers(0, 2, (40, 5)), axis=1)
    np.savez(tmp_path / "bits.npz", x_train_bits=bits, n_features=5, y_train=np.tile([-1, 1], 20))
    np.savez(tmp_path / "ratings.npz", user=np.arange(3))
    np.savez(tmp_path / "digits.npz", x=features, y=np.arange(40) % 10)
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))


@pytest.mark.usefixtures("folder")
def test_columns_are_standardized_and_constant_ones_dropped(backend):
    problem = LeastSquares(backend, backend.rng(1), dataset="line")
    assert problem.features.shape == (40, 3)
    np.testing.assert_allclose(problem.features.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(problem.features.std(axis=0), 1)


def test_a_column_that_has_no_scale_is_refused_instead_of_becoming_zeros(backend, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    features = np.random.default_rng(0).normal(size=(40, 4))
    for wrong, sentence in (
        (np.nan, r"array 'x' has nan in row 5, column 2 \(counted from 0\)"),
        (1e200, r"numbers too large to standardize in column 2 \(counted from 0\)"),
    ):
        features[5, 2] = wrong
        np.savez(tmp_path / "line.npz", x=features, y=np.tile([-1.0, 1.0], 20))
        for problem in (LeastSquares, LogisticRegression):
            with pytest.raises(BenchfwError, match=sentence):
                problem(backend, backend.rng(1), dataset="line")


@pytest.mark.usefixtures("folder")
def test_two_classes_become_signs_and_training_rows_are_kept(backend):
    problem = LogisticRegression(backend, backend.rng(1), dataset="signs")
    np.testing.assert_array_equal(problem.targets, np.tile([-1.0, 1.0], 15))


@pytest.mark.usefixtures("folder")
def test_packed_features_are_unpacked(backend):
    assert LogisticRegression(backend, backend.rng(1), dataset="bits").num_features == 5


@pytest.mark.usefixtures("folder")
def test_a_data_set_of_ten_classes_is_refused(backend):
    with pytest.raises(BenchfwError, match="has 10 classes; logistic regression needs two"):
        LogisticRegression(backend, backend.rng(1), dataset="digits")


@pytest.mark.usefixtures("folder")
def test_data_that_are_no_table_are_refused(backend):
    with pytest.raises(BenchfwError, match="'ratings' is not a table"):
        Lasso(backend, backend.rng(1), dataset="ratings")


@pytest.mark.usefixtures("folder")
def test_of_a_stored_split_the_training_rows_are_taken(backend):
    problem = LeastSquares(backend, backend.rng(1), dataset="uci-like(rows=200, features=4)")
    assert problem.features.shape == (180, 4)


@pytest.mark.usefixtures("folder")
def test_synthetic_sets_are_asked_for_by_name(backend):
    problem = LogisticRegression(backend, backend.rng(1), dataset="sonar-like")
    assert problem.features.shape == (165, 60)
    assert set(np.unique(problem.targets)) == {-1.0, 1.0}
