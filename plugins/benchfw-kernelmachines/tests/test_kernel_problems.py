"""Kernel classification and regression: preparation, oracles, metrics, clear refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.data import local_datasets
from benchfw.parameters import fits, parameters_of
from benchfw_kernelmachines.predictor import GramPredictor
from benchfw_kernelmachines.problems.functional_gradient import FunctionalGradient
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression
from benchfw_kernelmachines.sources.row_source import sample_numbers

BACKEND = get_backend("numpy")
RNG = np.random.default_rng(0)
FEATURES = RNG.standard_normal((300, 4)).astype(np.float32)
CLASSES = 3 * (FEATURES[:, 0] > 0) + 2 * (FEATURES[:, 1] > 0)  # 0, 2, 3, 5
NUMBERS = 50 + 20 * np.sin(FEATURES[:, 0]) + FEATURES[:, 1]
TRAIN = np.arange(250)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that makes a data set 'own' of some arrays, the others as usual."""
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))

    def save(**arrays):
        np.savez(tmp_path / "own.npz", **{"x": FEATURES, "y": CLASSES, "train_idx": TRAIN} | arrays)

    save()
    return save


def classification(**params):
    return KernelClassification(BACKEND, BACKEND.rng(0), **{"dataset": "own", **params})


def regression(**params):
    return KernelRegression(BACKEND, BACKEND.rng(0), **{"dataset": "own", **params})


def some_answer(problem, size=1.0):
    """Return a function of three centres."""
    centres = problem.train.features[:3]
    weights = np.random.default_rng(1).standard_normal((3, problem.num_outputs)).astype(np.float32)
    return GramPredictor(problem.covariance, centres, np.float32(size) * weights)


@pytest.mark.usefixtures("write")
def test_classes_are_numbered_in_their_order():
    problem = classification()
    assert problem.num_outputs == problem.num_classes == 4
    batch = problem.rows(TRAIN)
    np.testing.assert_array_equal(np.array([0, 2, 3, 5])[batch.targets], CLASSES[TRAIN])
    np.testing.assert_array_equal(batch.rows, FEATURES[TRAIN])


def test_two_classes_have_one_output_for_signs_and_two_for_softmax(write):
    write(y=np.where(FEATURES[:, 0] > 0, 1, -1))
    problem = classification(loss="hinge")
    assert problem.num_outputs == 1
    np.testing.assert_array_equal(problem.rows(TRAIN).targets[:, 0], np.sign(FEATURES[TRAIN, 0]))
    assert classification(loss="softmax").num_outputs == 2


def test_numbers_are_standardized_on_the_training_rows(write):
    write(y=NUMBERS)
    problem = regression(rows=200)
    rows, targets = problem.rows(np.arange(200))
    mean, deviation = NUMBERS[:200].mean(), NUMBERS[:200].std()
    np.testing.assert_allclose(targets[:, 0], (NUMBERS[:200] - mean) / deviation, rtol=1e-5, atol=1e-6)
    expected = (FEATURES[:200] - FEATURES[:200].mean(axis=0)) / FEATURES[:200].std(axis=0)
    np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)
    assert problem.num_outputs == 1


@pytest.mark.usefixtures("write")
def test_the_length_is_the_median_distance_or_what_is_given():
    median = np.median(pdist(FEATURES[TRAIN].astype(np.float64)))
    assert classification().covariance.length == pytest.approx(median, rel=1e-6)
    assert classification(length="median/sqrt2").covariance.length == pytest.approx(
        median / math.sqrt(2), rel=1e-6
    )
    assert classification(length=0.7).covariance.length == 0.7
    assert classification(covariance="matern", smoothness=2.5).covariance.smoothness == 2.5


@pytest.mark.usefixtures("write")
def test_the_top_eigenvalue_is_that_of_the_gram_matrix():
    problem = classification()
    gram = rbf_kernel(FEATURES[TRAIN].astype(np.float64), gamma=0.5 / problem.covariance.length**2)
    assert problem.top_eigenvalue() == pytest.approx(np.linalg.eigvalsh(gram)[-1] / 250, rel=1e-5)
    assert problem.cost == 0


@pytest.mark.usefixtures("write")
def test_rows_are_counted_and_metrics_are_not():
    problem = classification()
    batches = problem.batches(BACKEND.rng(1), 32)
    for _ in range(3):
        batch = next(batches)
    problem.rows(np.array([1, 2]))
    problem.spend(rows=7, pairs=1000, features=100)
    problem.metrics(some_answer(problem))
    problem.sample(BACKEND.rng(1), 10)
    assert batch.rows.shape == (32, 4)
    assert problem.cost == 3 * 32 + 2 + 7


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize(("counts", "cost"), [("rows", 34), ("pairs", 1000), ("features", 100)])
def test_cost_counts_one_kind_of_work(counts, cost):
    problem = classification(counts=counts)
    next(problem.batches(BACKEND.rng(1), 32))
    problem.rows(np.array([1, 2]))
    problem.spend(pairs=1000, features=100)
    assert (problem.cost_unit, problem.cost) == (counts, cost)


@pytest.mark.usefixtures("write")
def test_metrics_of_classes_are_what_they_say():
    problem = classification(penalty=0.3, evaluation=100)
    answer = some_answer(problem)
    found = problem.metrics(answer)
    scores = answer.predict(FEATURES).astype(np.float64)
    numbers = np.searchsorted([0, 2, 3, 5], CLASSES)
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(300), numbers]
    wrong = scores.argmax(axis=1) != numbers
    seen = sample_numbers(250, 100)
    assert found["loss"] == pytest.approx(losses[seen].mean(), rel=1e-5)
    assert found["objective"] == pytest.approx(found["loss"] + 0.15 * answer.squared_norm(), rel=1e-6)
    assert found["train_error"] == wrong[seen].mean()
    assert found["test_error"] == pytest.approx(wrong[250:].mean())
    assert found["num_features"] == 3
    assert list(found) == ["loss", "objective", "train_error", "test_error", "num_features"]


def test_training_rows_looked_at_are_of_all_classes_though_the_file_is_sorted(write):
    write(y=np.sort(CLASSES), train_idx=np.arange(300), test_idx=TRAIN)
    problem = classification(evaluation=100)
    shares = np.bincount(problem.train.targets, minlength=4) / 100
    np.testing.assert_allclose(shares, np.bincount(CLASSES)[[0, 2, 3, 5]] / 300, atol=4 * np.sqrt(0.25 / 100))


@pytest.mark.usefixtures("write")
def test_a_sample_is_of_different_training_rows_by_its_seed():
    problem = classification()
    rows = problem.sample(BACKEND.rng(1), 60)
    assert rows.shape == (60, 4)
    found = {tuple(row) for row in rows}
    assert len(found) == 60
    assert found <= {tuple(row) for row in FEATURES[TRAIN]}
    np.testing.assert_array_equal(rows, problem.sample(BACKEND.rng(1), 60))
    assert found != {tuple(row) for row in problem.sample(BACKEND.rng(2), 60)}
    assert problem.sample(BACKEND.rng(1), 1000).shape == (250, 4)


def test_features_as_stored_are_prepared_like_the_test_rows(write):
    pictures = np.random.default_rng(3).integers(0, 256, (300, 3, 5), dtype=np.uint8)
    write(x=pictures, y=NUMBERS)
    problem = regression(components=7)
    np.testing.assert_array_equal(problem.prepare(pictures[250:]), problem.test.features)
    with pytest.raises(BenchfwError, match="features of 14 columns are none of 'own', which has 15"):
        problem.prepare(np.zeros((2, 14), np.uint8))


def test_the_sign_of_one_score_is_the_class(write):
    write(y=np.where(FEATURES[:, 0] > 0, 7, 4))
    problem = classification(loss="logistic")

    class First:
        num_features = 1

        def predict(self, rows):
            return rows[:, :1]

        def squared_norm(self):
            return 0.0

    assert problem.metrics(First())["test_error"] == 0


@pytest.mark.usefixtures("write")
def test_an_answer_with_labels_alone_has_errors_alone():
    class Voting:
        num_features = 12

        def labels(self, rows):
            return np.zeros(len(rows), np.int64)

    found = classification().metrics(Voting())
    assert list(found) == ["train_error", "test_error", "num_features"]
    assert found["test_error"] == pytest.approx(np.mean(CLASSES[250:] != 0))


def test_errors_of_numbers_are_in_units_of_the_target(write):
    write(y=NUMBERS)
    problem = regression()
    answer = some_answer(problem)
    found = problem.metrics(answer)
    mean, deviation = NUMBERS[TRAIN].mean(), NUMBERS[TRAIN].std()
    predicted = mean + deviation * answer.predict(problem.test.features)[:, 0].astype(np.float64)
    assert found["test_rmse"] == pytest.approx(np.sqrt(np.mean((predicted - NUMBERS[250:]) ** 2)), rel=1e-4)
    own = problem.metrics(some_answer(problem, 0.0))
    assert own["train_rmse"] == pytest.approx(deviation, rel=1e-5)
    assert own["objective"] == pytest.approx(0.5, rel=1e-5)


def test_the_exact_minimizer_is_that_of_scikit_learn(write):
    write(y=NUMBERS)
    problem = regression(penalty=1e-3, exact=True)
    rows, targets = problem.rows(TRAIN)
    gamma = 0.5 / problem.covariance.length**2
    reference = KernelRidge(alpha=250 * 1e-3, kernel="rbf", gamma=gamma).fit(rows.astype(np.float64), targets)
    expected = reference.predict(problem.test.features.astype(np.float64))
    np.testing.assert_allclose(problem.exact_scores, expected, rtol=1e-5, atol=1e-6)
    exact = GramPredictor(problem.covariance, rows, reference.dual_coef_)
    found = problem.metrics(exact)
    assert found["function_error"] < 1e-9
    assert problem.cost == 250  # those of this test alone
    assert problem.metrics(some_answer(problem, 0.0))["function_error"] == pytest.approx((expected**2).mean())
    # and it is a minimum: any other function of the same centres is worse
    for move in np.random.default_rng(2).standard_normal((5, *reference.dual_coef_.shape)):
        other = GramPredictor(problem.covariance, rows, reference.dual_coef_ + 0.01 * move)
        assert problem.metrics(other)["objective"] > found["objective"]


@pytest.mark.parametrize("loss", ["softmax", "logistic", "hinge", "squared-hinge", "squared"])
@pytest.mark.parametrize("size", [1e30, np.inf, np.nan])
@pytest.mark.usefixtures("write")
def test_a_divergent_classifier_has_metrics_without_warning(loss, size):
    problem = classification(loss=loss)
    with np.errstate(all="ignore"):
        answer = some_answer(problem, size)
    found = problem.metrics(answer)
    assert not math.isfinite(found["objective"])
    if not math.isfinite(size):
        assert found["test_error"] == math.inf


@pytest.mark.parametrize("loss", ["squared", "epsilon-insensitive"])
def test_a_divergent_regression_has_metrics_without_warning(write, loss):
    write(y=NUMBERS)
    problem = regression(loss=loss, exact=loss == "squared")
    with np.errstate(all="ignore"):
        answer = some_answer(problem, np.inf)
    assert not any(map(math.isfinite, list(problem.metrics(answer).values())[:4]))


def test_many_columns_are_reduced_to_their_components(write):
    wide = np.random.default_rng(3).standard_normal((300, 120)).astype(np.float16)
    write(x=wide)
    assert classification().dimension == 100
    assert classification(components=7).dimension == 7
    assert classification(components=0).dimension == 120
    problem = classification(components=7)
    assert problem.rows(np.array([0, 3])).rows.shape == problem.train.features[:2].shape


def test_a_stream_is_a_problem_too():
    problem = classification(dataset="stream-like(rows=200000, features=5)", evaluation=2000)
    assert problem.num_samples == 190_000
    assert problem.num_outputs == 10
    assert next(problem.batches(BACKEND.rng(0), 1500)).rows.shape == (1500, 5)
    assert problem.caveats == ("the data set 'stream-like(rows=200000, features=5)' is synthetic",)
    assert problem.metrics(some_answer(problem))["test_error"] > 0.5
    with pytest.raises(BenchfwError, match="are a stream"):
        problem.rows(np.array([0]))
    numbers = regression(dataset="stream-like(rows=60000, features=5, classes=0)")
    assert numbers.num_samples == 54_000


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.usefixtures("write")
def test_the_problem_is_the_same_in_every_repetition(seed):
    problem = KernelClassification(BACKEND, BACKEND.rng(seed), dataset="own")
    np.testing.assert_array_equal(problem.train.features, classification().train.features)


BROKEN = FEATURES.copy()
BROKEN[17, 2] = np.nan
LATE = CLASSES.copy()
LATE[299] = 9


@pytest.mark.parametrize(
    ("arrays", "params", "sentence"),
    [
        (
            {"y": np.ones(300)},
            {},
            "training rows of 'own' are all of class 1; classification takes two classes",
        ),
        ({"y": CLASSES.astype(str)}, {}, "data set 'own' has labels of the type <U.*; give numbers"),
        ({"x": FEATURES.astype(str)}, {}, "data set 'own' has features of the type <U"),
        (
            {"y": FEATURES[:, :2]},
            {},
            r"data set 'own' has labels of the shape \(300, 2\); give one number a row",
        ),
        (
            {"y": NUMBERS},
            {},
            "has labels that are not whole numbers; number its classes, or take kernel-regression",
        ),
        ({"y": np.where(CLASSES, CLASSES, np.nan)}, {}, r"array 'y' has nan in row \d+ \(counted"),
        ({"y": LATE}, {}, "data set 'own' has a row of class 9, of which no row"),
        ({"x": np.ones_like(FEATURES)}, {}, "median distance between rows is 0"),
        ({"x": BROKEN}, {}, r"data set 'own' in .*: array 'x' has (nan|inf) in row \d+, column \d+"),
        ({}, {"loss": "hing"}, "unknown loss 'hing'; did you mean 'hinge'"),
        ({}, {"loss": "epsilon-insensitive"}, "'epsilon-insensitive' is for numbers"),
        ({}, {"covariance": "gausian"}, "unknown covariance 'gausian'; did you mean 'gaussian'"),
        ({}, {"dataset": "mnistt"}, "no data set 'mnistt'"),
        ({}, {"covariance": "matern", "smoothness": 1.0}, r"smoothness of the matern covariance is 0\.5"),
        ({}, {"rows": 251}, "data set 'own' has 250 training rows"),
    ],
)
def test_what_cannot_be_classified_is_refused_in_one_sentence(write, arrays, params, sentence):
    write(**arrays)
    with pytest.raises(BenchfwError, match=sentence) as refusal:
        classification(**params)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arrays", "params", "sentence"),
    [
        ({"y": np.ones(300)}, {}, "the targets of 'own' are all 1: nothing to predict"),
        ({"y": np.full(300, 1.1)}, {}, "the targets of 'own' are all 1.1: nothing to predict"),
        ({"y": np.where(CLASSES, 1.0, np.inf)}, {}, r"array 'y' has inf in row \d+ "),
        ({"x": BROKEN}, {}, r"array 'x' has (nan|inf) in row \d+, column \d+"),
        ({"y": FEATURES[:, :2]}, {}, r"has labels of the shape \(300, 2\)"),
        ({}, {"loss": "logistic"}, "the loss 'logistic' is for classes"),
        ({}, {"loss": "epsilon-insensitive", "exact": True}, "exact = true needs the loss 'squared'"),
        (
            {},
            {"dataset": "stream-like(rows=20000, classes=0)", "exact": True},
            "exact = true takes at most 10,000 training rows, not 18,000",
        ),
    ],
)
def test_what_cannot_be_regressed_is_refused_in_one_sentence(write, arrays, params, sentence):
    write(**{"y": NUMBERS, **arrays})
    with pytest.raises(BenchfwError, match=sentence):
        regression(**params)


@pytest.mark.parametrize("kind", [KernelClassification, KernelRegression, FunctionalGradient])
def test_names_that_do_not_exist_are_known_before_anything_runs(kind):
    parameters = parameters_of(kind)
    wrong = {"loss": ["hing", {"name": "squared"}], "covariance": ["gausian"], "length": ["mean"]}
    for name, values in wrong.items():
        assert fits(parameters[name].default, parameters[name].hint)
        assert not any(fits(value, parameters[name].hint) for value in values)


def test_epsilon_is_that_of_the_loss_and_a_number(write):
    write(y=NUMBERS)
    assert regression(loss="epsilon-insensitive", epsilon=0.3).loss.epsilon == 0.3
    assert not fits("big", parameters_of(KernelRegression)["epsilon"].hint)


REAL = {
    "mnist": ({"rows": 2000}, 100, 10),
    "cifar10-pca100": ({"rows": 2000}, 100, 10),
    "adult": ({"rows": 2000, "loss": "hinge"}, 100, 1),
    "uci-kin40k": ({"rows": 2000}, 8, 1),
    "year-msd-sample": ({}, 90, 1),
}


@pytest.mark.parametrize("name", REAL)
def test_real_sets_come_prepared(name):
    if name not in local_datasets():
        pytest.skip(f"data set '{name}' is in no folder of BENCHFW_DATA")
    params, dimension, outputs = REAL[name]
    kind = KernelRegression if name.startswith(("uci", "year")) else KernelClassification
    problem = kind(BACKEND, BACKEND.rng(0), dataset=name, **params)
    assert (problem.dimension, problem.num_outputs) == (dimension, outputs)
    # under the median trick the top eigenvalue is about 0.61, whatever the set
    assert problem.top_eigenvalue() == pytest.approx(0.61, abs=0.03)
    if name == "mnist":
        assert problem.covariance.length == pytest.approx(9.8, abs=0.15)


@pytest.mark.parametrize(
    ("leading", "classes", "numbers"),
    [("objective", "objective", "objective"), ("loss", "loss", "loss"), ("error", "test_error", "test_rmse")],
)
@pytest.mark.usefixtures("write")
def test_the_metric_that_leads_comes_first(leading, classes, numbers):
    for problem, metric in (
        (classification(leading=leading), classes),
        (regression(leading=leading), numbers),
    ):
        assert next(iter(problem.metrics(some_answer(problem)))) == metric
