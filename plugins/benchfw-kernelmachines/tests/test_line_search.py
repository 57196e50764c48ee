"""The step that a line search over a batch finds, and what it prevents."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.data import get_dataset, is_synthetic, local_datasets
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Spec, Status, Trial
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.optimizers.block_descent import Moves
from benchfw_kernelmachines.optimizers.cdsg import CDSG
from benchfw_kernelmachines.optimizers.dsg import DSG
from benchfw_kernelmachines.optimizers.udsg import UDSG
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

BACKEND = get_backend("numpy")
NUMBERS, CLASSES = "uci-like(rows=900, features=6)", "ionosphere-like"


def problem(loss="squared", dataset=None, **settings):
    kind = KernelRegression if loss == "squared" else KernelClassification
    named = dataset or (NUMBERS if loss == "squared" else CLASSES)
    return kind(BACKEND, BACKEND.rng(0), dataset=named, loss=loss, evaluation=500, **settings)


def run(risk, method, seed, steps):
    """Return how a trial ended, and its losses."""
    records, emit = collector()
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 0, Budget(iterations=steps))
    with np.errstate(over="ignore", invalid="ignore"):
        outcome = measure_optimizer(trial, risk, method, BACKEND.rng(seed), emit)
    return outcome, [each.value for each in records if each.metric == "loss"]


@pytest.mark.parametrize("preconditioner", [None, 1e-3])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_it_lowers_the_loss_of_the_batch_most_or_at_least_surely(loss, preconditioner):
    risk = problem(loss)
    *_, answer = islice(DSG(batch=64, block=16, step=1.0).run(risk, BACKEND.rng(1)), 4)
    rows, targets = next(risk.batches(BACKEND.rng(2), 64))
    scores = answer.predict(rows).astype(np.float64)
    frequencies = get_frequencies("independent", BACKEND, risk.covariance, risk.dimension, 16, 7)
    moves = Moves(risk, frequencies, rows, risk.loss.derivative(scores, targets), preconditioner)
    phases = rows.astype(np.float64) @ frequencies.block(3)
    cosines, sines = moves.direction(3)
    change = np.cos(phases) @ cosines + np.sin(phases) @ sines

    def loss_after(step):
        return float(risk.loss.value(scores - step * change, targets).mean())

    found = moves.line_search(3)
    steps = found * np.linspace(0, 2, 201)
    losses = [loss_after(step) for step in steps]
    assert max(losses[1:-1]) < losses[0]
    if loss == "squared":
        assert steps[np.argmin(losses)] == pytest.approx(found, rel=1e-6)
        assert losses[-1] == pytest.approx(losses[0], rel=1e-4)
    else:  # of a bound above the loss
        assert losses[-1] <= losses[0]
        assert np.argmin(losses) >= 100


def test_a_loss_with_a_kink_has_no_line_search():
    for method in (DSG(batch=16, block=4, step="line-search"), CDSG(batch=16, block=4, limit="line-search")):
        with pytest.raises(BenchfwError, match="a line search needs a smooth loss, and 'hinge' has a kink"):
            list(islice(method.run(problem("hinge"), BACKEND.rng(0)), 2))


@pytest.mark.thorough
def test_cdsg_stays_stable_where_the_limit_of_the_whole_gram_blows_up():
    """With 8 frequencies a block's largest eigenvalue is often far above that of the gram."""
    risk = problem(penalty=1e-5)
    common = {"batch": 256, "block": 8, "step": 2.0}
    edge = 2 / risk.top_eigenvalue()
    before = (run(risk, CDSG(**common, limit=edge), seed, 150)[0].status for seed in range(4))
    assert Status.DIVERGED in before  # at the first that does
    for seed in range(4):
        outcome, losses = run(risk, CDSG(**common), seed, 150)
        assert outcome.status is Status.DONE
        assert max(losses) < 2 * losses[0]
        assert losses[-1] < losses[0]


@pytest.mark.parametrize("kind", [DSG, UDSG])
def test_as_a_step_of_its_own_it_needs_no_tuning(kind):
    outcome, losses = run(problem(), kind(batch=256, block=32, step="line-search"), 1, 60)
    assert outcome.status is Status.DONE
    assert max(losses) == losses[0]
    assert losses[-1] < 0.8 * losses[0]


def test_a_line_search_can_fall():
    risk = problem()
    ends = [
        islice(DSG(batch=64, block=8, step="line-search", delay=delay).run(risk, BACKEND.rng(1)), 2)
        for delay in (0.0, 1.0)
    ]
    (_, whole), (_, half) = map(list, ends)
    np.testing.assert_allclose(half.coefficients[0], whole.coefficients[0] / 2, rtol=1e-4)  # but for λ


SQUARED_SETS = (
    *(f"uci-{name}" for name in ("bike", "elevators", "keggundirected", "kin40k", "pol", "protein")),
    "year-msd-sample",
    NUMBERS,
)


@pytest.mark.thorough
@pytest.mark.parametrize("block", [32, 128])
@pytest.mark.parametrize("dataset", SQUARED_SETS)
def test_no_blow_up_of_cdsg_ends_as_done(dataset, block):
    """128 runs in all; 2.75 is the best constant step of DSG."""
    here = is_synthetic(dataset) or dataset in local_datasets()
    risk = problem(dataset=dataset if here else get_dataset(dataset).twin)
    for seed, step in enumerate((1.5, 2.75) * 4):
        outcome, losses = run(risk, CDSG(batch=512, block=block, step=step), seed, 60)
        assert outcome.status is Status.DONE, outcome.reason
        assert max(losses) < 2 * losses[0]
        assert math.isfinite(losses[-1])
