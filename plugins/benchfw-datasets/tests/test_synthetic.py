"""Synthetic sets: the shapes of the real ones, the same from the same seed, a structure to learn."""

import numpy as np
import pytest

from benchfw import data
from benchfw.data import check_arrays, content_hash, parse_dataset_name, registered_datasets, resolve_function
from benchfw.errors import DataError
from benchfw.parameters import parameters_of
from benchfw_datasets.synthetic.ratings import _sort_with_places

REAL = [entry for entry in registered_datasets().values() if entry.make is None]
LARGE = {"movielens-10m", "mnist", "mnist-8m", "cifar10", "epsilon", "year-msd"}
"""Too large to make at full size in a test: made small, and held to row shapes and types."""
SMALL = {
    "rows": 50,
    "test_rows": 20,
    "users": 40_000,
    "items": 30,
    "ratings": 2000,
    "source": "mnist-like(rows=50, test_rows=5)",
}
MADE = sorted(name for name, entry in registered_datasets().items() if entry.make is not None)


@pytest.fixture(autouse=True)
def _alone(cache):
    pass


@pytest.mark.parametrize("largest", [50, 2**62], ids=["which share 63 bits", "which do not"])
def test_numbers_are_sorted_with_their_places(largest):
    values = np.random.default_rng(3).integers(largest, size=100)
    found, places = _sort_with_places(values)
    np.testing.assert_array_equal(places, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(found, values[places])


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.name)
@pytest.mark.sampled(5)
def test_a_stand_in_has_the_arrays_of_the_real_set(entry):
    name, params = parse_dataset_name(entry.twin)
    if entry.name not in LARGE:
        check_arrays(entry, data.load(name, **params), name)
        return
    small = {key: SMALL[key] for key in params}
    arrays = data.load(
        name, **small, **({"source": "mnist-like(rows=50, test_rows=5)"} if entry.name == "mnist-8m" else {})
    )
    for key, spec in entry.arrays.items():
        assert arrays[key].dtype == spec.dtype
        assert arrays[key].shape[1:] == spec.shape[1:]


def small(name):
    sizes = {"rows", "test_rows", "documents", "words", "hours", "samples"}

    legal = set(parameters_of(resolve_function(name, data.get_dataset(name).make)))
    params = dict.fromkeys(sizes & legal, 120) | ({"train": 60} if "train" in legal else {})
    if "samples" in legal:
        params |= {"samples": 2000, "held_out": 60, "gaps": 6}
    if "users" in legal:
        params |= {"users": 30, "items": 40, "ratings": 300}
    return params | ({"source": "mnist-like(rows=50, test_rows=5)"} if "source" in legal else {})


@pytest.mark.parametrize("name", MADE)
def test_a_seed_makes_the_same_set_again_and_another_seed_another(name):
    params = small(name)
    first = content_hash(data.load(name, **params))
    assert content_hash(data.load(name, **params)) == first
    assert content_hash(data.load(name, **params, seed=1)) != first


PINNED = {
    "sound-like(samples=3000, held_out=60, gaps=6)": "eee5a565f595260f",
    "szeged-weather-like(hours=500)": "2e62a369750740ef",
    "ap-like(documents=20, words=300)": "bbc274861b45f086",
    "adult-like(rows=200, test_rows=50)": "560e7159d1cff62c",
    "covtype-like(rows=100)": "fd4bd443ca0abb0c",
    "epsilon-like(rows=20, test_rows=5, features=30)": "7cf6aed9088b9eae",
    "cifar10-like(rows=10, test_rows=5)": "bfa8f974bf07f4c7",
    "cifar10-pca100-like(rows=20, test_rows=5)": "a5320925d36fe9c9",
    "movielens-like(users=50, items=60, ratings=500)": "b318756fe874eb4d",
    "sonar-like": "5fa409840d0c1be8",
    "mnist-like(rows=20, test_rows=5)": "d15e112ff6096ac8",
    "uci-like(rows=100, features=3)": "e39d2be377563ab2",
    "stream-like(rows=100, features=5)": "19fa7f0acb04b9a0",
    "stream-like(rows=100, features=5, classes=0)": "998fbd87b24f2524",
}


@pytest.mark.parametrize("name", PINNED)
def test_a_set_is_the_same_on_every_machine(name):
    assert content_hash(data.load(name))[:16] == PINNED[name]


def test_ratings_have_no_cell_twice_and_are_sorted():
    arrays = data.load("movielens-like(users=50, items=60, ratings=900)")
    cells = arrays["user"].astype(int) * 100 + arrays["item"]
    assert (np.diff(cells) > 0).all()
    assert set(np.unique(arrays["rating"])) <= {1, 2, 3, 4, 5}
    assert 1 <= arrays["user"].min() <= arrays["user"].max() <= 50
    with pytest.raises(DataError, match="fill more than half"):
        data.load("movielens-like(users=5, items=5, ratings=20)")


def test_a_few_films_have_most_of_the_ratings():
    counts = np.sort(np.bincount(data.load("movielens-like")["item"]))[::-1]
    assert counts[: len(counts) // 5].sum() > 0.5 * counts.sum()
    crowded = data.load("movielens-like(users=6, items=5, ratings=15)")  # more than groups would choose
    assert len(set(zip(crowded["user"], crowded["item"], strict=True))) == 15


@pytest.mark.thorough
def test_ratings_have_the_margins_and_the_spectrum_of_movielens_1m():
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    arrays = data.load("movielens-like(users=6040, items=3706, ratings=1000203)")
    user, item, rating = (arrays[key].astype(int) for key in ("user", "item", "rating"))
    quantiles = [np.quantile(np.bincount(each)[1:], [0.1, 0.5, 0.9]) for each in (item, user)]
    singular = np.sort(svds(csr_matrix((rating.astype(float), (item, user))), k=30)[1])[::-1]
    # the figures of the real set
    np.testing.assert_allclose(quantiles[0][1:], [123.5, 729.5], rtol=0.2)
    assert 2 < quantiles[0][0] < 7  # the least popular films have fewer ratings than the real ones
    np.testing.assert_allclose(quantiles[1], [27, 96, 400], rtol=0.2)
    np.testing.assert_allclose(singular[[0, 1, 9]], [1893, 671, 316], rtol=0.1)
    assert 0.75 * 177 < singular[29] < 177
    assert rating.mean() == pytest.approx(3.58, abs=0.06)
    assert rating.std() == pytest.approx(1.117, abs=0.03)


@pytest.mark.parametrize("name", ["sonar-like(rows=800, train=600)", "mnist-like(rows=900, test_rows=300)"])
def test_classes_can_be_learned_but_not_at_sight(name):
    x, y = data.load_table(name, "train")
    tested, truth = data.load_table(name, "test")
    x, tested = (each.reshape(len(each), -1).astype(float) for each in (x, tested))
    centres = np.array([x[y == label].mean(axis=0) for label in np.unique(y)])
    distance = ((tested[:, None] - centres) ** 2).sum(axis=2)
    error = np.mean(np.unique(y)[distance.argmin(axis=1)] != truth)
    assert error < 0.7 * (1 - 1 / len(centres))


def test_pictures_of_the_stream_are_digits_moved_a_little():
    source = data.load("mnist-like(rows=100, test_rows=1)")
    stream = data.load("mnist-8m-like(rows=50)", source="mnist-like(rows=100, test_rows=1)")
    assert stream["x"].shape == (50, 784)
    assert abs(stream["x"].mean() - source["x_train"].mean()) < 10
    assert len({row.tobytes() for row in stream["x"]}) == 50


def test_a_synthetic_set_never_takes_the_place_of_a_real_one(monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    with pytest.raises(DataError, match='stand-in: dataset = "mnist-like'):
        data.load("mnist-8m-like(rows=10)")
    with pytest.raises(DataError, match="synthetic stand-in"):
        data.load("movielens-100k")


def rows_of_a_stream(rows, start, stop, **params):
    (piece,) = data.batches("stream-like", stop - start, start=start, stop=stop, rows=rows, **params)
    return piece


@pytest.mark.parametrize("classes", [0, 2, 10])
def test_a_row_of_the_stream_depends_on_the_seed_and_its_number_alone(classes):
    whole = data.load("stream-like", rows=2500, classes=classes)
    piece = rows_of_a_stream(8_000_000, 990, 1017, classes=classes)
    for key in ("x", "y"):
        np.testing.assert_array_equal(piece[key], whole[key][990:1017])
    assert len({row.tobytes() for row in whole["x"]}) == 2500


def test_the_stream_has_the_classes_or_the_numbers_that_are_asked_for():
    assert set(data.load("stream-like(rows=5000, classes=7)")["y"]) == set(range(7))
    numbers = data.load("stream-like(rows=5000, classes=0)")["y"]
    assert numbers.dtype == np.float32
    assert abs(numbers.mean()) < 0.5 < 2 * numbers.std()
    for classes in (1, -1, "two", 1 << 16):
        with pytest.raises(DataError, match="classes must be a whole number from 2 and below 65536 or 0"):
            data.load("stream-like", classes=classes)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "movielens-like(users=0)",
            "users must be a whole number from 1, got 0, in data set 'movielens-like'",
        ),
        ("movielens-like(noise=-1)", "noise must be at least 0, got -1"),
        ("ap-like(words=70_000)", "words must be a whole number from 1 to 65536, got 70000"),
        ("sonar-like(train=208)", "train must leave rows to test, got 208 of 208"),
        ("mnist-8m-like(source=3)", "source must be the name of a data set, got 3"),
    ],
)
def test_parameters_outside_of_their_ranges_are_refused(name, sentence):
    with pytest.raises(DataError, match=sentence):
        data.load(name)


def test_the_classes_of_the_stream_need_more_than_a_line():
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    arrays = data.load("stream-like(rows=3000, features=10, classes=2)")
    x, y = arrays["x"].astype(float), arrays["y"].astype(int)
    line, curve = (each.fit(x[:2000], y[:2000]) for each in (LogisticRegression(), SVC(gamma=1 / 40)))
    assert 1 - curve.score(x[2000:], y[2000:]) < 0.7 * (1 - line.score(x[2000:], y[2000:]))
