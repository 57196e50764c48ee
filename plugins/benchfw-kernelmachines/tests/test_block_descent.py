"""DSG, UDSG and CDSG against the algorithms as printed, with all features in memory and no running scale."""

from __future__ import annotations

from functools import cache
from itertools import islice, pairwise

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Spec, Status, Trial
from benchfw_kernelmachines.features import IndependentFrequencies, get_frequencies
from benchfw_kernelmachines.optimizers import block_descent, cdsg, udsg
from benchfw_kernelmachines.optimizers.cdsg import CDSG
from benchfw_kernelmachines.optimizers.dsg import DSG
from benchfw_kernelmachines.optimizers.kernel_ridge_exact import KernelRidgeExact
from benchfw_kernelmachines.optimizers.udsg import UDSG
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
ROWS, STEPS = 200, 30
SMALL = {"batch": 16, "block": 8, "step": 1.0}


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that builds a problem of a loss on 200 rows in the plane."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-2, 2, (ROWS + 20, 2)).astype(np.float32)
    wave = np.sin(2 * features[:, 0]) + features[:, 1]
    labels = {
        "numbers": wave + 0.3 * rng.standard_normal(len(wave)),
        "classes": np.digitize(wave, [-1, 1]),
        "unequal": wave > 1.6,  # one row of eight
    }
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    for name, targets in labels.items():
        np.savez(tmp_path / f"{name}.npz", X=features, y=targets, train_idx=np.arange(ROWS))

    def problem(loss, penalty=0.01, length=1.0, classes="classes", **more):
        numbers = loss in {"squared", "epsilon-insensitive"}
        kind = KernelRegression if numbers else KernelClassification
        settings = {"loss": loss, "penalty": penalty, "length": length, **more}
        return kind(BACKEND, BACKEND.rng(0), dataset="numbers" if numbers else classes, **settings)

    return problem


@pytest.fixture
def kept_blocks(monkeypatch):
    """Make every block once: what long runs of small blocks spend most of their time on."""
    monkeypatch.setattr(IndependentFrequencies, "_successive", cache(IndependentFrequencies._successive))


def path(problem, optimizer, steps=STEPS, seed=1):
    """The first answers, the start included."""
    return list(islice(optimizer.run(problem, BACKEND.rng(seed)), steps + 1))


def all_rows(problem):
    return problem.rows(np.arange(problem.num_samples)).rows


class Textbook:
    """f(x) = Σ_j Φ_j(x) α_j with every α decayed at every step, features in memory, float64."""

    def __init__(self, problem, optimizer, seed=1):
        self.problem, self.optimizer = problem, optimizer
        self.random = BACKEND.rng(seed)
        self.batches = problem.batches(BACKEND.rng(seed), optimizer.batch)
        space = problem.covariance, problem.dimension
        self.frequencies = get_frequencies(optimizer.kind, BACKEND, *space, optimizer.block, seed)
        self.weights, self.alpha, self.beta, self.steps = [], [], [], 0

    def features(self, rows, j):
        phases = rows.astype(float) @ self.weights[j].astype(float)
        return np.hstack([np.cos(phases), np.sin(phases)])

    def predict(self, rows):
        start = np.zeros((len(rows), self.problem.num_outputs))
        return sum((self.features(rows, j) @ alpha for j, alpha in enumerate(self.alpha)), start)

    def step(self, choose):
        optimizer, penalty = self.optimizer, self.problem.penalty
        self.steps += 1
        rows, targets = next(self.batches)
        self.rows = rows
        gradients = self.problem.loss.derivative(self.predict(rows).astype(np.float32), targets).astype(float)
        delayed = (1 + self.steps / optimizer.delay) ** optimizer.power if optimizer.delay else 1.0
        k, length = choose(
            self, gradients, optimizer.step if optimizer.step == "line-search" else optimizer.step / delayed
        )
        if k == len(self.alpha):
            self.alpha.append(np.zeros((2 * optimizer.block, gradients.shape[1])))
            self.beta.append(np.zeros(gradients.shape[1]))
        move = self.move(k, gradients)[1]
        self.alpha = [(1 - length * penalty) * each for each in self.alpha]
        self.beta = [(1 - length * penalty) * each for each in self.beta]
        self.alpha[k] -= length * move
        self.beta[k] -= length * gradients.mean(axis=0)

    def move(self, k, gradients):
        """The features of block k at the batch, and its move."""
        optimizer = self.optimizer
        if k == len(self.weights):
            self.weights.append(self.frequencies.block(k))
        features = self.features(self.rows, k)
        pairs = optimizer.batch * optimizer.block
        move = features.T @ gradients / pairs
        if optimizer.preconditioner:
            gram = features.T @ features / pairs
            ridge = self.problem.penalty + optimizer.preconditioner
            move = np.linalg.solve(gram + ridge * np.eye(len(gram)), move)
        return features, move

    def line_search(self, k, gradients):
        """The step of least squared loss on the batch."""
        features, move = self.move(k, gradients)
        change = features @ move
        steps = np.arange(3.0)
        losses = [((gradients - s * change) ** 2).sum() for s in steps]
        a, b, _ = np.polyfit(steps, losses, 2)
        return -b / (2 * a)


def new_block(book, gradients, step):
    return len(book.alpha), step


def periodic(book, gradients, step):
    """Two new blocks, then three old ones."""
    if book.steps % 5 in {1, 2}:
        return len(book.alpha), step
    book.draws = getattr(book, "draws", book.random.at(udsg.BLOCK_STREAM))
    return book.draws.integers(len(book.alpha)), step


def checked(book, gradients, step):
    """The longest step of inequality (9) over all blocks, from the roots of its polynomial."""
    if not hasattr(book, "variance"):
        book.variance = cdsg.feature_variance(book.problem, book.random.at(cdsg.NOISE_STREAM))
    mean = gradients.mean(axis=0)
    noise = (gradients**2).sum(axis=1).mean() * book.variance / len(gradients)
    best, k = step, len(book.alpha)
    for j, beta in enumerate(book.beta):
        quadratic = [2 * mean @ mean + 2 * noise, -4 * beta @ mean, beta @ beta - step**2 * mean @ mean]
        longest = max((root.real for root in np.roots(quadratic) if abs(root.imag) < 1e-12), default=0)
        if longest > best:
            best, k = longest, j
    if k == len(book.alpha):
        return k, step
    limit = book.line_search(k, gradients) if book.problem.loss.name == "squared" else 4 * step
    return k, min(best, limit)


def searched(book, gradients, step):
    """A new block, as far as the batch's squared loss falls."""
    return len(book.alpha), book.line_search(len(book.alpha), gradients)


@pytest.mark.parametrize(
    ("loss", "preconditioner"), [("squared", None), ("squared", 1e-3), ("softmax", 1e-3), ("hinge", None)]
)
@pytest.mark.parametrize(
    ("kind", "choose"),
    [(DSG, new_block), (lambda **common: UDSG(fresh=2, reuse=3, **common), periodic), (CDSG, checked)],
    ids=["dsg", "udsg", "cdsg"],
)
def test_the_steps_are_those_of_the_textbook_with_features_in_memory(
    build, kind, choose, loss, preconditioner
):
    problem = build(loss)
    optimizer = kind(**SMALL, preconditioner=preconditioner)
    book = Textbook(problem, optimizer)
    rows = all_rows(problem)
    for t, answer in enumerate(path(problem, optimizer)):
        assert len(answer.coefficients) == len(book.alpha)
        if t % 10 == 0:
            expected = book.predict(rows)
            close = 2e-5 * max(1, np.abs(expected).max())
            np.testing.assert_allclose(answer.predict(rows), expected, atol=close)
        book.step(choose)


def test_cdsg_moves_old_blocks_in_the_textbook_test(build):
    assert 0 < path(build("squared"), CDSG(**SMALL))[-1].facts()["accepted_share"] < 1


@pytest.mark.parametrize(
    "settings",
    [{"delay": 5.0}, {"delay": 5.0, "power": 0.5}, {"kind": "orthogonal"}, {"kind": "quasi-monte-carlo"}],
    ids=str,
)
def test_delayed_steps_and_other_features_are_those_of_the_textbook(build, settings):
    problem = build("squared")
    optimizer = DSG(**SMALL, **settings)
    book = Textbook(problem, optimizer)
    for _ in range(STEPS):
        book.step(new_block)
    rows = all_rows(problem)
    np.testing.assert_allclose(path(problem, optimizer)[-1].predict(rows), book.predict(rows), atol=2e-5)


@pytest.mark.parametrize("preconditioner", [None, 1e-3])
def test_steps_by_line_search_are_those_of_the_textbook(build, preconditioner):
    problem = build("squared")
    optimizer = DSG(**{**SMALL, "step": "line-search"}, preconditioner=preconditioner)
    book = Textbook(problem, optimizer)
    for _ in range(STEPS):
        book.step(searched)
    rows = all_rows(problem)
    np.testing.assert_allclose(path(problem, optimizer)[-1].predict(rows), book.predict(rows), atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_rigorous_noise_gives_the_path_of_dsg_bit_for_bit_where_classes_are_balanced(build, loss):
    problem = build(loss, length="median")
    common = {"batch": 100, "block": 8, "step": 1.0}
    ours = path(problem, CDSG(**common, noise="rigorous"))
    theirs = path(problem, DSG(**common))
    for one, other in zip(ours, theirs, strict=True):
        assert one.scale == other.scale
        assert len(one.coefficients) == len(other.coefficients)
        assert all(map(np.array_equal, one.coefficients, other.coefficients))
    assert ours[-1].facts()["accepted_share"] == 0


def test_rigorous_noise_moves_old_blocks_where_classes_are_unequal_and_batches_large(build):
    problem = build("hinge", length="median", classes="unequal")
    answers = path(problem, CDSG(batch=100, block=8, step=3.0, noise="rigorous"))
    assert 0 < answers[-1].facts()["accepted_share"] < 0.5


@pytest.mark.usefixtures("kept_blocks")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_literal_noise_diverges_on_squared_loss_and_that_is_a_status(build):
    problem = build("squared", penalty=1e-5)
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 0, Budget(iterations=2000))
    _, emit = collector()
    method = CDSG(batch=150, block=8, step=3.0, noise="literal")
    outcome = measure_optimizer(trial, problem, method, BACKEND.rng(1), emit)
    assert outcome.status == Status.DIVERGED, outcome.reason
    assert {"accepted_share", "step_ratio_median"} <= set(outcome.facts)


def test_udsg_makes_so_many_new_blocks_a_period(build):
    answers = path(build("squared"), UDSG(**SMALL, fresh=2, reuse=3), steps=12)
    assert [len(each.coefficients) for each in answers] == [0, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 6]


def test_udsg_without_reuse_is_dsg(build):
    problem = build("softmax")
    rows = all_rows(problem)
    ends = [path(problem, each)[-1].predict(rows) for each in (UDSG(**SMALL, reuse=0), DSG(**SMALL))]
    np.testing.assert_array_equal(*ends)


def test_udsg_sees_the_batches_of_dsg(build, monkeypatch):
    problem, seen = build("squared"), []

    def batches(rng, size):
        for batch in type(problem).batches(problem, rng, size):
            seen.append(batch.rows)
            yield batch

    monkeypatch.setattr(problem, "batches", batches, raising=False)
    for optimizer in (UDSG(**SMALL), DSG(**SMALL)):
        path(problem, optimizer, steps=10)
    np.testing.assert_array_equal(seen[:10], seen[10:])


def test_answers_stay_as_they_were_and_share_what_did_not_move(build):
    problem = build("squared")
    rows = all_rows(problem)
    seen = [(each, each.predict(rows)) for each in path(problem, CDSG(**SMALL))]
    for answer, scores in seen:
        np.testing.assert_array_equal(answer.predict(rows), scores)
    for (one, _), (other, _) in pairwise(seen):
        kept = [a is b for a, b in zip(one.coefficients, other.coefficients, strict=False)]
        assert sum(kept) >= len(one.coefficients) - 1


@pytest.mark.usefixtures("kept_blocks")
@pytest.mark.parametrize("step", [0.5, 1.0, 1.5], ids=lambda step: f"step x penalty = {step}")
def test_the_scale_never_underflows(build, step):
    """1 - γλ = ½ makes it 1e-18 after 60 steps, and 0 forgets all that was before."""
    problem = build("squared", penalty=1.0)
    optimizer = DSG(batch=16, block=4, step=step)
    answers = path(problem, optimizer, steps=60)
    assert all(block_descent.SMALLEST_SCALE <= abs(each.scale) <= 1 for each in answers)
    rows = all_rows(problem)
    book = Textbook(problem, optimizer)
    for _ in range(60):
        book.step(new_block)
    np.testing.assert_allclose(answers[-1].predict(rows), book.predict(rows), atol=1e-4)


class StoredFeatures:
    """feature_scores with all frequencies of a run in memory, for thousands of small blocks."""

    def __call__(self, rows, frequencies, coefficients, num_outputs, tensor_cores):
        del tensor_cores
        count = len(coefficients)
        if not count:
            self.weights = []
            return np.zeros((len(rows), num_outputs), np.float32)
        if len(self.weights) < count:  # a step adds one block at most
            self.weights.append(frequencies(range(count - 1, count)))
        phases = rows @ np.concatenate(self.weights, axis=1)
        cosines, sines = np.concatenate(coefficients, axis=1)
        return np.cos(phases) @ cosines + np.sin(phases) @ sines


@pytest.mark.usefixtures("kept_blocks")
@pytest.mark.parametrize(
    ("kind", "settings"),
    [(DSG, {}), (UDSG, {}), (CDSG, {"noise": "rigorous", "limit": 1.5})],  # 1.5 < 1/(λ + μ), μ = 1/3
    ids=["dsg", "udsg", "cdsg"],
)
@pytest.mark.thorough
def test_the_error_falls_as_one_over_t(build, monkeypatch, kind, settings):
    """Theorems 3 and 4: γ_t = θ/(t + t_0), θλ = 1.5, f* by exact ridge regression, over two decades of t."""
    monkeypatch.setattr(block_descent, "feature_scores", StoredFeatures())
    problem = build("squared", penalty=0.3)
    rows = problem.test.features
    optimum = list(KernelRidgeExact().run(problem, BACKEND.rng(0)))[-1].predict(rows)
    looks, seeds = np.geomspace(5, 500, 13).astype(int), 8
    optimizer = kind(batch=8, block=2, step=5.0, delay=1.0, **settings)
    errors = np.empty((seeds, len(looks)))
    for seed in range(seeds):
        answers = path(problem, optimizer, looks[-1], seed)
        errors[seed] = [((answers[t].predict(rows) - optimum) ** 2).mean() for t in looks]

    def slope(of_seeds):
        return np.polyfit(np.log(looks), np.log(of_seeds.mean(axis=0)), 1)[0]

    draws = np.random.default_rng(0).integers(seeds, size=(200, seeds))
    std_error = np.std([slope(errors[draw]) for draw in draws])
    assert abs(slope(errors) + 1) < 4 * std_error < 0.35  # far from the slope -½ of a slower method


def test_the_variance_of_features_is_that_of_all_rows(build):
    """200 rows are fewer than are looked at, so that only anchors and frequencies are random."""
    problem = build("squared")
    found = [cdsg.feature_variance(problem, BACKEND.rng(seed).at(9)) for seed in range(12)]
    rows = all_rows(problem)
    weights = problem.covariance.frequencies(BACKEND.rng(99).standard_normal((2, 1000), np.float32))
    phases, gram = rows @ weights, problem.covariance.gram(rows, rows)
    exact = [np.var(np.cos(phases[i] - phases) - gram[i][:, None], axis=0).mean() for i in range(ROWS)]
    error = np.std(found) / len(found) ** 0.5
    assert np.mean(found) == pytest.approx(np.mean(exact) / 2, abs=4 * error)


def test_the_frequencies_of_the_variance_share_no_random_words_with_its_rows(build, monkeypatch):
    asked, block = [], IndependentFrequencies.block
    monkeypatch.setattr(
        IndependentFrequencies, "block", lambda *place: asked.append(place[-1]) or block(*place)
    )
    rng = BACKEND.rng(1).at(cdsg.NOISE_STREAM)
    problem = build("squared")
    cdsg.feature_variance(problem, rng)
    assert asked == [rng.block]
    assert rng.block > 0  # rows have taken those before
    assert problem.cost == 0


def test_cdsg_tells_how_far_old_blocks_went(build):
    facts = path(build("squared"), CDSG(**SMALL))[-1].facts()
    assert set(facts) == {
        "accepted_share",
        "sigma_squared",
        "step_ratio_q10",
        "step_ratio_median",
        "step_ratio_q90",
    }
    assert 0 < facts["step_ratio_q10"] <= facts["step_ratio_median"] <= facts["step_ratio_q90"]


def test_steps_on_old_blocks_are_cut_at_the_limit(build):
    facts = path(build("squared"), CDSG(**SMALL, limit=1.25))[-1].facts()
    assert facts["step_ratio_q90"] == 1.25
    facts = path(build("hinge", classes="unequal"), CDSG(**SMALL))[-1].facts()
    assert facts["step_ratio_q90"] == 4


@pytest.mark.usefixtures("kept_blocks")
@pytest.mark.parametrize(
    "loss", ["squared", "logistic", "softmax", "hinge", "squared-hinge", "epsilon-insensitive"]
)
def test_every_loss_is_lowered(build, loss):
    problem = build(loss, penalty=1e-4)
    start, *_, last = path(problem, DSG(batch=64, block=32))
    assert problem.metrics(last)["objective"] < 0.9 * problem.metrics(start)["objective"]


@pytest.mark.parametrize("kind", [DSG, UDSG, CDSG])
def test_batches_are_counted_in_rows(build, kind):
    problem = build("squared")
    path(problem, kind(**SMALL), steps=5)
    assert problem.cost == 5 * 16


@pytest.mark.parametrize("more", [{}, {"preconditioner": 0.1}, {"step": "line-search"}])
@pytest.mark.parametrize("kind", [DSG, UDSG, CDSG])
def test_pairs_are_those_whose_features_are_computed(build, monkeypatch, kind, more):
    if kind is CDSG and "step" in more:
        more = {"limit": "line-search"}
    pairs = []

    def width_of(frequencies, coefficients=()):
        return sum(each.shape[1] for each in coefficients) if callable(frequencies) else frequencies.shape[1]

    for name in ("feature_scores", "feature_products", "feature_gram"):
        original = getattr(block_descent, name)

        def watched(rows, frequencies, *others, original=original):
            pairs.append(len(rows) * width_of(frequencies, *others[:1]))
            return original(rows, frequencies, *others)

        monkeypatch.setattr(block_descent, name, watched)
    problem = build("squared", counts="pairs")
    path(problem, kind(**{**SMALL, **more}), steps=8)
    assert problem.cost == sum(pairs)


@pytest.mark.parametrize("kind", [DSG, UDSG, CDSG])
def test_features_drawn_are_those_of_the_answer(build, kind):
    problem = build("squared", counts="features")
    for answer in islice(kind(**SMALL).run(problem, BACKEND.rng(1)), 12):
        assert problem.cost == answer.num_features


@pytest.mark.parametrize("tensor_cores", [True, False])
def test_the_choice_of_products_reaches_every_call_and_answer(build, monkeypatch, tensor_cores):
    told = []
    for name in ("feature_scores", "feature_products", "feature_gram"):
        original = getattr(block_descent, name)

        def watched(*arguments, original=original):
            told.append(arguments[-1])
            return original(*arguments)

        monkeypatch.setattr(block_descent, name, watched)
    method = DSG(**SMALL | {"step": "line-search"}, preconditioner=0.1, tensor_cores=tensor_cores)
    answers = path(build("squared"), method, steps=2)
    assert [answer.tensor_cores for answer in answers] == [tensor_cores] * 3
    assert told == [tensor_cores] * 8  # scores, products, gram, and scores for the line search, twice
