"""Splits: stored ones as they are, others by rule and seed, the same everywhere."""

import hashlib

import numpy as np
import pytest

from benchfw import data
from benchfw.data.split import validation_seed
from benchfw.errors import DataError

Y = np.array([1, -1] * 20, np.int8)


@pytest.fixture(autouse=True)
def _alone(cache):
    pass


def digest(rows):
    return hashlib.sha256(np.asarray(rows, "<i8").tobytes()).hexdigest()[:16]


def test_a_tenth_of_the_rows_is_drawn_from_the_seed():
    arrays = {key: np.zeros(100_000, np.int16) for key in ("user", "item", "rating")}
    split = data.split("votes", 7, arrays=arrays)
    assert (len(split.train), len(split.test)) == (90_000, 10_000)
    np.testing.assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(100_000))
    assert "drawn from the seed" in split.protocol
    assert digest(split.test) == "f817b2eadd388f29"  # the same rows on every machine


def test_another_seed_is_another_split():
    arrays = {"rating": np.zeros(1000)}
    first, again, other = (data.split("votes", seed, arrays=arrays).test for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_stored_rows_are_taken_in_their_order():
    arrays = {"y": Y, "train_idx": np.array([5, 3], np.int32), "test_idx": np.array([9], np.int32)}
    split = data.split("flowers", arrays=arrays)
    assert (split.train.tolist(), split.test.tolist()) == ([5, 3], [9])
    assert split.protocol == "stored with the data"


def test_a_stored_mask_names_the_rows_that_it_marks():
    mask = np.zeros(len(Y), dtype=bool)
    mask[[2, 4]] = True
    split = data.split("flowers", arrays={"y": Y, "train_idx": mask})
    assert split.train.tolist() == [2, 4]
    assert split.test.tolist() == np.flatnonzero(~mask).tolist()


def test_without_stored_rows_the_first_fifth_of_each_class_tests():
    y = np.array([1] * 111 + [-1] * 97, np.int8)
    split = data.split("flowers", arrays={"X": np.zeros((208, 60)), "y": y})
    assert (len(split.train), len(split.test)) == (165, 43)
    np.testing.assert_array_equal(split.test, [*range(23), *range(111, 131)])


@pytest.mark.parametrize("key", ["probe", "test"])
def test_a_stored_bit_mask_is_unpacked(key):
    mask = np.zeros(13, bool)
    mask[[2, 12]] = True
    arrays = {"y": np.zeros(13), "rating": np.zeros(13), key: np.packbits(mask), "n": np.array(13)}
    assert data.split("votes", arrays=arrays).test.tolist() == [2, 12]


def test_of_ten_stored_splits_the_seed_chooses():
    mask = np.zeros((20, 10), bool)
    mask[np.arange(10), np.arange(10)] = True
    arrays = {"x": np.zeros((20, 1)), "y": np.zeros(20), "test_mask": np.packbits(mask, axis=0)}
    assert data.split("mine", 3, arrays=arrays).test.tolist() == [3]
    assert data.split("mine", 13, arrays=arrays).test.tolist() == [3]


def test_rows_may_be_split_by_their_order():
    split = data.split("years", arrays={"x": np.zeros((50, 1)), "y": np.zeros(50, np.int16)})
    assert (len(split.train), len(split.test)) == (30, 20)
    assert split.test[0] == 30


def test_rows_may_be_held_out_in_gaps():
    split = data.split("weather", 3, arrays={"unix_time": np.zeros(96_453)})
    assert (len(split.train), len(split.test)) == (16_930, 590)
    runs = np.split(split.test, np.flatnonzero(np.diff(split.test) != 1) + 1)
    assert [len(run) for run in runs] == [10] * 59
    assert split.test.min() > 0
    assert split.test.max() < 17_519
    assert digest(split.test) == "446e71bb892d910c"


def test_gaps_that_do_not_fit_are_an_error():
    with pytest.raises(DataError, match="59 gaps of 10 rows do not fit into 100 rows"):
        data.split("weather", arrays={"unix_time": np.zeros(100)})


def test_documents_without_a_split_are_halved():
    arrays = {"indptr": np.arange(2247), "data": np.zeros(2246)}
    split = data.split("letters", arrays=arrays)
    assert (len(split.train), len(split.test)) == (1123, 1123)


def test_the_halves_deal_out_half_of_each_document():
    counts = np.random.default_rng(0).integers(1, 9, size=90).astype(np.uint8)
    arrays = {"data": counts, "indptr": np.arange(0, 91, 3)}
    half = data.split_documents(arrays, 4)
    owner = np.repeat(np.arange(30), 3)
    np.testing.assert_array_equal(np.bincount(owner, half), np.bincount(owner, counts) // 2)
    assert (half <= counts).all()
    stored = np.zeros_like(counts)
    assert data.split_documents({**arrays, "half1": stored}) is stored


def test_a_set_in_two_parts_counts_through_both():
    arrays = {
        "x_train": np.ones((3, 2)),
        "y_train": np.ones(3),
        "x_test": np.zeros((2, 2)),
        "y_test": np.zeros(2),
    }
    split = data.split("mine", arrays=arrays)
    assert (split.train.tolist(), split.test.tolist()) == ([0, 1, 2], [3, 4])
    features, targets = data.load_table("mine", arrays=arrays)
    assert features[split.test].sum() == 0
    assert targets[split.train].sum() == 3
    assert data.load_table("mine", "test", arrays=arrays).features is arrays["x_test"]


def test_a_table_gives_the_rows_of_a_part():
    arrays = {"X": np.arange(8.0).reshape(4, 2), "y": np.arange(4)}
    arrays |= {"train_idx": np.array([2, 0]), "test_idx": np.array([3])}
    np.testing.assert_array_equal(data.load_table("flowers", "train", arrays=arrays).targets, [2, 0])
    np.testing.assert_array_equal(data.load_table("flowers", "test", arrays=arrays).features, [[6, 7]])
    assert len(data.load_table("flowers", arrays=arrays).targets) == 4


def test_packed_features_are_unpacked():
    bits = np.array([[1, 0, 1], [0, 1, 1]], np.uint8)
    arrays = {"x_train_bits": np.packbits(bits, axis=1), "y_train": np.ones(2), "n_features": np.array(3)}
    np.testing.assert_array_equal(data.load_table("mine", arrays=arrays).features, bits)


def test_what_is_not_a_table_is_an_error():
    with pytest.raises(DataError, match=r"'votes' is not a table.*has item, rating"):
        data.load_table("votes", arrays={"item": Y, "rating": Y})


def test_a_table_has_a_target_for_each_row():
    with pytest.raises(DataError, match="'votes' has 100 rows of x and 90 of y"):
        data.load_table("votes", arrays={"x": np.ones((100, 2)), "y": np.ones(90)})


def test_only_what_is_fixed_counts_as_a_split():
    assert data.has_split("years", {"x": Y, "y": Y})
    assert data.has_split("mine", {"train_idx": Y, "test_idx": Y})
    assert not data.has_split("mine", {"x": Y, "y": Y})


def test_a_trial_that_tunes_sees_training_rows_in_the_place_of_test_rows():
    arrays = {"X": np.arange(200.0).reshape(100, 2), "y": np.arange(100.0)}
    parts = data.split("table", 3, arrays=arrays)
    token = validation_seed.set(11)
    try:
        held = data.split("table", 3, arrays=arrays)
        again = data.split("table", 3, arrays=arrays)
        table = data.load_table("table", "test", 3, arrays=arrays)
        in_two = {"x_train": arrays["X"][:80], "y_train": arrays["y"][:80]}
        in_two |= {"x_test": arrays["X"][80:], "y_test": arrays["y"][80:]}
        pieces = [data.load_table("table", part, arrays=in_two).targets for part in ("train", "test")]
    finally:
        validation_seed.reset(token)
    assert not set(held.test) & set(parts.test)
    assert set(held.train) | set(held.test) == set(parts.train)
    assert (len(held.train), len(held.test)) == (81, 9)
    assert held.protocol.endswith("9 of the training rows stand in for the test rows")
    assert np.array_equal(held.test, again.test)
    assert np.array_equal(table.targets, arrays["y"][held.test])
    assert sorted(np.concatenate(pieces)) == list(range(80))
    assert [len(each) for each in pieces] == [64, 16]


def test_a_trial_that_tunes_keeps_most_training_rows_where_half_of_all_rows_test():
    arrays = {"X": np.zeros((100, 2)), "y": np.arange(100), "train_idx": np.arange(50)}
    token = validation_seed.set(11)
    try:
        held = data.split("table", arrays=arrays)
    finally:
        validation_seed.reset(token)
    assert (len(held.train), len(held.test)) == (40, 10)
