"""Warped pictures by their number."""

import numpy as np
import pytest

from benchfw import data
from benchfw.backends import get_backend
from benchfw_datasets.synthetic import warps
from benchfw_datasets.synthetic.warps import WarpedPictures

BACKEND = get_backend("numpy")


@pytest.fixture
def source():
    return data.load("mnist-like(rows=100, test_rows=1)")


def warped(source, seed=0):
    return WarpedPictures(BACKEND, source["x_train"], source["y_train"], seed)


def test_a_row_is_the_same_wherever_the_set_is_entered(source, monkeypatch):
    made = warped(source)
    whole, labels = made.rows(7_999_000, 7_999_060)
    monkeypatch.setattr(warps, "AT_A_TIME", 7)
    part, some = made.rows(7_999_020, 7_999_050)
    np.testing.assert_array_equal(part, whole[20:50])
    np.testing.assert_array_equal(some, labels[20:50])
    assert (whole != made.rows(0, 60)[0]).any(axis=1).all()
    assert (whole != warped(source, seed=1).rows(7_999_000, 7_999_060)[0]).any()


def test_the_stream_of_the_catalog_has_these_rows(source):
    name = "mnist-8m-like(rows=1500, source='mnist-like(rows=100, test_rows=1)')"
    (piece,) = data.batches(name, 30, start=990, stop=1020)
    x, y = warped(source).rows(990, 1020)
    np.testing.assert_array_equal(piece["x"], x)
    np.testing.assert_array_equal(piece["y"], y)


def test_a_warp_of_no_size_is_the_picture_itself(source, monkeypatch):
    for name in ("SHIFT", "TURN", "SCALE", "SHEAR"):
        monkeypatch.setattr(warps, name, 0.0)
    monkeypatch.setattr(warps, "_smoothing", lambda: np.zeros((49, 784), np.float32))
    pixels, labels = warped(source).rows(0, 40)
    pictures = {
        (row.tobytes(), label) for row, label in zip(source["x_train"], source["y_train"], strict=True)
    }
    assert {(row.tobytes(), label) for row, label in zip(pixels, labels, strict=True)} <= pictures


def test_a_shift_moves_the_picture_and_black_comes_in_beside_it(monkeypatch):
    for name in ("TURN", "SCALE", "SHEAR"):
        monkeypatch.setattr(warps, name, 0.0)
    monkeypatch.setattr(warps, "_smoothing", lambda: np.zeros((49, 784), np.float32))
    white = WarpedPictures(BACKEND, np.full((1, 28, 28), 255, np.uint8), np.zeros(1), 0)
    rows = white.rows(0, 400)[0].reshape(400, 28, 28).astype(float) / 255
    assert (rows[:, 10:18, 10:18] == 1).all()
    lost = 28 - rows[:, :, 14].sum(axis=1)  # |shift| down, to the rounding of a byte
    assert np.mean(lost**2) == pytest.approx(0.7**2, rel=4 * (2 / 400) ** 0.5)


def test_fields_have_the_standard_deviation_that_is_said():
    np.testing.assert_allclose((warps._smoothing() ** 2).sum(axis=0), 1.0, rtol=1e-5)
