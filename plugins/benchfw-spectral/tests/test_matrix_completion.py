"""Matrix completion: oracles, interval, cost, data."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.data import local_datasets
from benchfw_firstorder import SVRG, Fista, GradientDescent, ProximalGradient
from benchfw_spectral import Chebyshev, MatrixCompletion, Optimal
from benchfw_spectral.problems.ratings import read_ratings

WIDE = "movielens-like(users=30, items=20, ratings=200)"
TALL = "movielens-like(users=15, items=24, ratings=150)"
TWINS = pytest.mark.parametrize("dataset", [WIDE, TALL], ids=["wide", "tall"])


def build(backend, dataset=WIDE, seed=11, **params):
    return MatrixCompletion(backend, backend.rng(seed), dataset=dataset, **params)


def somewhere(problem, seed=3):
    """A point inside of the box that is near no symmetry."""
    return np.random.default_rng(seed).uniform(0.1, 4.9, problem.shape)


def smoothed_nuclear_norm(params, smoothing):
    """By singular values: Σ √(σ² + ε) over as many as there are rows."""
    singular = np.zeros(len(params))
    found = np.linalg.svd(params, compute_uv=False)
    singular[: len(found)] = found
    return np.sqrt(singular**2 + smoothing).sum()


def inside(interval, params, smoothing):
    eigenvalues = np.linalg.eigvalsh(params @ params.T + smoothing * np.eye(len(params)))
    rounding = 1e-12 * eigenvalues[-1]
    return interval[0] - rounding <= eigenvalues[0] and eigenvalues[-1] <= interval[1]


@TWINS
def test_value_is_the_smoothed_nuclear_norm_plus_the_weighted_squares(backend, dataset):
    problem = build(backend, dataset, weight=0.3, smoothing=7.0)
    params, ratings = somewhere(problem), problem.start()
    squares = ((params - ratings) ** 2)[ratings > 0].sum()
    expected = smoothed_nuclear_norm(params, 7.0) + 0.3 * squares
    assert problem.value(params) == pytest.approx(expected, rel=1e-13)


@TWINS
def test_gradient_agrees_with_central_differences(backend, dataset):
    problem = build(backend, dataset, weight=0.3, smoothing=7.0)
    params = somewhere(problem)
    gradient, width = problem.grad(params), 1e-4
    for place in itertools.product(*map(range, problem.shape)):
        step = np.zeros(problem.shape)
        step[place] = width
        slope = (problem.value(params + step) - problem.value(params - step)) / (2 * width)
        assert gradient[place] == pytest.approx(slope, abs=1e-7)


@TWINS
def test_gradient_is_that_of_the_trace_plus_that_of_the_rest(backend, dataset):
    problem = build(backend, dataset)
    params = somewhere(problem)
    left, singular, right = np.linalg.svd(params, full_matrices=False)
    trace = (left * (singular / np.sqrt(singular**2 + problem.smoothing))) @ right
    np.testing.assert_allclose(problem.grad(params), trace + problem.rest_grad(params), atol=1e-13)


def test_rest_and_its_gradient_see_the_training_ratings_alone(backend):
    problem = build(backend)
    ratings, params = problem.start(), somewhere(problem)
    known = ratings > 0
    assert known.sum() == 180
    assert problem.rest(np.where(known, ratings, params)) == 0.0
    expected = np.where(known, 2 * problem.weight * (params - ratings), 0.0)
    np.testing.assert_allclose(problem.rest_grad(params), expected, rtol=1e-15)


@TWINS
@pytest.mark.parametrize("count", [0, 1, 4, 40])  # few pairs, and so many that a (size, size) matrix pays
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_pullback_is_the_gradient_of_the_bilinear_forms(backend, dataset, count, order, symmetric):
    problem = build(backend, dataset)
    params = somewhere(problem)
    rng = np.random.default_rng(5)
    left, right = (np.array(rng.standard_normal((problem.size, count)), order=order) for _ in range(2))
    if symmetric:
        mix = rng.standard_normal((count, count))
        left = np.array(right @ (mix + mix.T), order=order)

    def forms(at):
        return np.sum(left * problem.at(at).operator.matmat(right))

    pulled = problem.at(params).pullback(left, right, symmetric)
    assert pulled.shape == problem.shape
    direction = rng.standard_normal(problem.shape)
    # the forms are quadratic in θ: central differences are exact but for rounding
    slope = (forms(params + direction) - forms(params - direction)) / 2
    assert np.sum(pulled * direction) == pytest.approx(slope, rel=1e-11, abs=1e-8)


def test_chebyshev_gradients_have_the_exact_one_as_their_mean(backend):
    problem = build(backend)
    params, rng = problem.start(), backend.rng(4)
    estimator = Chebyshev(probes=2, distribution=Optimal(mean=15))
    direction = np.random.default_rng(6).standard_normal(problem.shape)
    drawn = [np.sum(direction * estimator.draw(problem, rng)(params)) for _ in range(600)]
    std_error = np.std(drawn) / np.sqrt(len(drawn))
    assert abs(np.mean(drawn) - np.sum(direction * problem.grad(params))) < 4 * std_error


@pytest.mark.parametrize("order", ["C", "F"])
def test_operator_multiplies_with_the_matrix_shifted_or_not(backend, order):
    problem = build(backend)
    params = somewhere(problem)
    matrix = params @ params.T + problem.smoothing * np.eye(problem.size)
    rng = np.random.default_rng(5)
    block, out = (np.array(rng.standard_normal((problem.size, 3)), order=order) for _ in range(2))
    operator = problem.at(params).operator
    np.testing.assert_allclose(operator.matmat(block), matrix @ block, rtol=1e-11)
    shifted = operator.shifted(0.5, -2.0)
    np.testing.assert_allclose(shifted.matmat(block), 0.5 * matrix @ block - 2 * block, rtol=1e-11)
    expected = 3 * (0.5 * matrix @ block - 2 * block) - 4 * out
    np.testing.assert_allclose(shifted.update(block, out.copy(order=order), 3.0, -4.0), expected, rtol=1e-11)


@TWINS
def test_interval_holds_the_spectrum_along_gradient_descent(backend, dataset):
    problem = build(backend, dataset)
    for params in itertools.islice(GradientDescent(step=5.0).run(problem, backend.rng(0)), 30):
        assert inside(problem.at(params).interval, params, problem.smoothing)


@TWINS
def test_interval_holds_the_spectrum_at_random_points(backend, dataset):
    problem = build(backend, dataset)
    rng = np.random.default_rng(8)
    for density in (0.0, 0.02, 0.1, 0.5, 1.0):
        params = np.where(rng.random(problem.shape) < density, rng.uniform(0, 5, problem.shape), 0.0)
        for signed in (params, params - 1.0):  # extrapolating methods leave the box
            assert inside(problem.at(signed).interval, signed, problem.smoothing)


@TWINS
def test_interval_is_tight(backend, dataset):
    problem = build(backend, dataset)
    for params in itertools.islice(GradientDescent(step=5.0).run(problem, backend.rng(0)), 30):
        top = np.linalg.norm(params, 2) ** 2
        assert problem.at(params).interval[1] <= 1.05 * top + problem.smoothing


def test_smoothing_is_the_top_eigenvalue_of_the_start_over_350(backend):
    problem = build(backend)
    assert problem.smoothing == pytest.approx(np.linalg.norm(problem.start(), 2) ** 2 / 350, rel=1e-3)
    assert build(backend, smoothing=2.0).smoothing == 2.0


def test_gradient_descent_with_the_known_smoothness_never_climbs(backend):
    problem = build(backend)
    path = itertools.islice(GradientDescent().run(problem, backend.rng(0)), 40)
    objectives = [problem.metrics(params)["objective"] for params in path]
    assert (np.diff(objectives) < 0).all()


def test_projection_is_onto_the_box_and_leaves_its_argument(backend):
    problem = build(backend)
    params = 8 * np.random.default_rng(2).standard_normal(problem.shape)
    before = params.copy()
    np.testing.assert_array_equal(problem.project(params), np.minimum(np.maximum(params, 0), 5))
    np.testing.assert_array_equal(params, before)


def test_the_data_term_moves_from_the_gradient_to_the_prox(backend):
    whole, parted = (build(backend, data_term=data_term) for data_term in ("gradient", "prox"))
    params = somewhere(whole)
    ratings = whole.start()
    assert parted.value(params) + parted.penalty(params) == pytest.approx(whole.value(params), rel=1e-14)
    np.testing.assert_allclose(parted.grad(params) + whole.rest_grad(params), whole.grad(params), atol=1e-14)
    assert not parted.rest_grad(params).any()
    assert whole.metrics(params) == parted.metrics(params)
    assert (whole.penalized, parted.penalized) == (False, True)
    assert whole.penalty(params) == 0
    assert whole.penalty(params - 5) == parted.penalty(params + 5) == np.inf
    far, step = 4 * params - 7, 30.0
    np.testing.assert_array_equal(whole.prox(far, step), whole.project(far))
    pull = 2 * step * parted.weight
    mean = np.where(ratings > 0, (far + pull * ratings) / (1 + pull), far)
    np.testing.assert_allclose(parted.prox(far, step), np.clip(mean, 0, 5), atol=1e-14)


def test_proximal_steps_of_all_lengths_below_the_limit_lead_to_one_minimum(backend):
    ends = []
    for data_term, step, method in (("gradient", 3.0, GradientDescent), ("prox", 12.0, ProximalGradient)):
        problem = build(backend, weight=0.15, smoothing=40.0, data_term=data_term)
        assert step < 2 / problem.constants.smoothness
        path = method(step=step).run(problem, backend.rng(0))
        ends.append(problem.metrics(next(itertools.islice(path, 300, None)))["objective"])
    problem = build(backend, weight=0.15, smoothing=40.0, data_term="prox")
    for method, steps in ((Fista(), 100), (SVRG(1.0, inner=5, estimator=Chebyshev(probes=20)), 300)):
        path = method.run(problem, backend.rng(0))
        ends.append(problem.metrics(next(itertools.islice(path, steps, None)))["objective"])
    assert ends == pytest.approx([ends[0]] * 4, rel=1e-3)


@TWINS
@pytest.mark.parametrize("data_term", ["gradient", "prox"])
def test_single_precision_gives_the_numbers_of_double_precision(backend, dataset, data_term):
    double, single = (
        build(backend, dataset, data_term=data_term, dtype=dtype) for dtype in ("float64", "float32")
    )
    rough = somewhere(single).astype(np.float32)
    params = rough.astype(np.float64)
    estimator = Chebyshev(probes=4, distribution=Optimal(mean=10))
    for oracle in (
        lambda problem, at: problem.start(),
        lambda problem, at: problem.grad(at),
        lambda problem, at: problem.rest_grad(at),
        lambda problem, at: problem.project(8 * at - 15),
        lambda problem, at: problem.prox(8 * at - 15, 3.0),
        lambda problem, at: estimator.draw(problem, backend.rng(9))(at),
    ):
        found, expected = oracle(single, rough), oracle(double, params)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=2e-5)
    assert single.value(rough) == pytest.approx(double.value(params), rel=1e-6)
    assert single.metrics(rough) == pytest.approx(double.metrics(params), rel=1e-6)
    assert inside(single.at(rough).interval, params, single.smoothing)


def test_the_automatic_step_of_svrg_is_where_its_noise_is_stable(backend):
    estimator = Chebyshev(probes=50, distribution=Optimal(mean=15))
    flat = build(backend, weight=1e-4, smoothing=1e6)
    law = 1.5 * (1e6 * 50 / (flat.size * 20)) ** 0.5
    method = SVRG(inner=20, estimator=estimator)
    assert method.stable_step(flat) == pytest.approx(law)
    assert method.caveats(flat) == SVRG(0.99 * law, inner=20, estimator=estimator).caveats(flat) == []
    (caveat,) = SVRG(2 * law, inner=20, estimator=estimator).caveats(flat)
    assert caveat.startswith(f"step {2 * law:g} is above {law:.2g}, about the largest")
    first, second = itertools.islice(method.run(flat, backend.rng(0)), 2)
    np.testing.assert_allclose(second, flat.project(first - law * flat.grad(first)), atol=1e-9)
    steep = build(backend, weight=5.0, smoothing=1e4)  # 1/L is the smaller one
    first, second = itertools.islice(method.run(steep, backend.rng(0)), 2)
    step = 1 / steep.constants.smoothness
    np.testing.assert_allclose(second, steep.project(first - step * steep.grad(first)), atol=1e-9)
    exact = SVRG(inner=20, estimator=Chebyshev(probe="basis", distribution=Optimal(mean=15)))
    assert exact.stable_step(flat) is None


def test_a_step_that_rounds_to_the_largest_stable_one_of_svrg_has_no_caveat(backend):
    flat = build(backend, weight=1e-4, smoothing=1e6)
    method = SVRG(inner=20, estimator=Chebyshev(probes=50, distribution=Optimal(mean=15)))
    law = method.stable_step(flat)
    as_shown = float(f"{law:.2g}")
    above = as_shown if as_shown > law else law * (1 + 1e-9)
    assert replace(method, step=above).caveats(flat) == []
    for factor in np.linspace(1, 1.3, 301):
        for caveat in replace(method, step=factor * law).caveats(flat):
            step, stable = re.match(r"step (\S+) is above (\S+),", caveat).groups()
            assert float(step) > float(stable)


def test_products_are_counted_and_metrics_are_not(backend):
    problem = build(backend)
    params = problem.start()
    assert problem.cost == 0
    problem.metrics(params)
    problem.rest_grad(params)
    matrix = problem.at(params)
    assert problem.cost == 0
    assert matrix.interval == matrix.interval
    assert problem.cost == 3
    block = np.ones((problem.size, 4))
    matrix.operator.update(matrix.operator.matmat(block), block, 1.0, 1.0)
    assert problem.cost == 3 + 8
    matrix.pullback(block, block)
    assert problem.cost == 3 + 8 + 4
    short, long = problem.shape
    value, gradient = short * (0.5 + 0.75 * short / long), short * (1 + 5.5 * short / long)
    problem.value(params)
    assert problem.cost == 3 + 8 + 4 + round(value)
    problem.grad(params)
    assert problem.cost == 3 + 8 + 4 + round(value) + round(gradient)


def test_metrics_begin_with_the_error_on_ratings_that_were_held_back(backend):
    problem = build(backend)
    found = problem.metrics(problem.start())
    assert list(found) == ["test_rmse", "train_rmse", "objective"]
    assert found["train_rmse"] == 0.0
    assert 2.5 < found["test_rmse"] < 4.5  # all of them are guessed as 0
    assert found["objective"] == problem.value(problem.start())


@TWINS
def test_the_objective_of_large_matrices_is_estimated_and_a_caveat_says_so(backend, monkeypatch, dataset):
    problem = build(backend, dataset)
    params = somewhere(problem)
    exact = problem.metrics(params)["objective"]
    assert problem.caveats == []
    monkeypatch.setattr("benchfw_spectral.problems.matrix_completion.LARGEST_OBJECTIVE", 0)
    found = problem.metrics(params)["objective"]
    assert found == problem.metrics(params)["objective"]  # the same probes
    assert abs(found - exact) < 4 * problem._estimate(params).std_error
    (caveat,) = problem.caveats
    assert "20 probes" in caveat
    assert "%" in caveat


def test_the_split_is_drawn_from_the_seed(backend):
    first, again, other = (build(backend, seed=seed).start() for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.fixture
def save(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return lambda **arrays: np.savez(tmp_path / "own.npz", **arrays)


@pytest.mark.parametrize(
    "ids",
    [
        lambda numbers: (15_000 * numbers - 32_000).astype(np.int16),
        lambda numbers: 10**17 * (numbers - 2),
        lambda numbers: numbers.astype(np.uint64) + np.uint64(2**63),
        lambda numbers: numbers / 3,
        lambda numbers: np.array(["a", "bb", "c", "d", "e"])[numbers],
    ],
    ids=["beside each other", "far apart", "beyond int64", "fractions", "words"],
)
def test_items_and_users_have_their_places_in_the_order_of_their_ids(backend, save, ids):
    user, item = np.divmod(np.arange(20), 5)
    ratings = 1 + np.arange(20) / 5
    mixed = np.random.default_rng(4).permutation(20)
    save(
        user=ids(user)[mixed],
        item=ids(item)[mixed],
        rating=ratings[mixed],
        train_idx=np.flatnonzero(user[mixed] != 2),
    )
    expected = ratings.reshape(4, 5).T.copy()
    expected[:, 2] = 0
    np.testing.assert_array_equal(build(backend, "own").start(), expected)


def test_a_stand_in_is_a_caveat_until_the_real_file_is_here(backend, save):
    twin = build(backend, stand_in_for="own")
    assert twin.num_users == 30
    assert twin.caveats == [f"own is not here: {WIDE} is a synthetic set in its place"]
    user, item = np.divmod(np.arange(20), 5)
    save(user=user, item=item, rating=np.full(20, 3.5))
    real = build(backend, stand_in_for="own")
    assert real.shape == (5, 4)
    assert real.caveats == []


def test_a_stored_split_is_kept(backend, save):
    user, item = np.divmod(np.arange(20), 5)
    save(user=user, item=item, rating=np.arange(1, 21) / 4, train_idx=np.arange(0, 20, 2))
    start = build(backend, "own").start()
    np.testing.assert_array_equal(np.sort(start[start > 0]), np.arange(1, 21, 2) / 4)


def test_ratings_that_a_stored_split_names_twice_count_twice(save):
    user, item = np.divmod(np.arange(20), 5)
    save(user=user, item=item, rating=np.full(20, 3.5), train_idx=np.array([0, 7, 0, 3]))
    assert read_ratings("own", 0).train.cells.tolist() == [0, 0, 9, 12]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rating": np.full(20, np.nan)}, "array 'rating' has nan in row 0"),
        ({"rating": np.full(20, 10)}, "'own' has ratings that are not numbers from 0 to 5; rescale them"),
        ({"rating": np.ones(19)}, "'own' holds no ratings: it needs the columns user, item and rating"),
        ({"item": np.zeros(20)}, "'own' has two ratings of one item by one user; keep one of them"),
        ({"train_idx": np.arange(20)}, "'own' has too few ratings to train on some and test on others"),
    ],
)
def test_ratings_that_cannot_be_used_are_refused(backend, save, changes, sentence):
    user, item = np.divmod(np.arange(20), 5)
    save(**({"user": user, "item": item, "rating": np.full(20, 3.0)} | changes))
    with pytest.raises(BenchfwError, match=sentence):
        build(backend, "own")


def test_data_without_ratings_or_of_no_known_name_are_refused(backend):
    with pytest.raises(BenchfwError, match=r"'uci-like' holds no ratings.*and has"):
        build(backend, "uci-like")
    with pytest.raises(BenchfwError, match="no data set 'movielens-7'"):
        build(backend, "movielens-7")


def test_movielens_100k_as_in_the_paper(backend):
    if "movielens-100k" not in local_datasets():
        pytest.skip("movielens-100k is in no folder of BENCHFW_DATA")
    problem = build(backend, "movielens-100k")
    assert problem.shape == (1682, 943)
    assert problem.smoothing == pytest.approx(1e3, rel=0.1)
    params = problem.start()
    assert (params > 0).sum() == 90_000
    top = np.linalg.eigvalsh(params.T @ params)[-1] + problem.smoothing
    assert top < problem.at(params).interval[1] < 1.02 * top
    params = problem.project(params - 10.0 * problem.grad(params))
    assert problem.metrics(params)["test_rmse"] == pytest.approx(3.5, abs=0.05)  # from 3.7
