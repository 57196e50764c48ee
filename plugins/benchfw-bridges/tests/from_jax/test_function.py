"""A function written in JAX is a problem; solvers written in JAX work on it."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.measure.trial import prepare_method
from benchfw.registry import Registry

pytestmark = [
    pytest.mark.families,
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed"),
]

EXAMPLE = "benchfw_bridges.from_jax.example"
LINE = {
    "use": "jax-function",
    "function": f"{EXAMPLE}:mean_square",
    "start": f"{EXAMPLE}:start",
    "data": f"{EXAMPLE}:data",
}


@pytest.fixture(scope="module")
def registry():
    return Registry()


def build(registry, table, seed=3):
    backend = get_backend("numpy")
    return registry.build("problem", table, backend, backend.rng(seed))


def design():
    """Return the example as a matrix and targets, in the order of the vector: offset, slopes."""
    from benchfw_bridges.from_jax import example

    data = example.data()
    return np.column_stack([np.ones(40), data["x"]]), data["y"]


def test_value_gradient_and_batches_are_those_of_the_function(registry):
    problem, (matrix, targets) = build(registry, {**LINE, "batch_size": 3}), design()
    point, batch = np.arange(5.0), np.array([3, 1, 3])
    residuals = matrix @ point - targets
    assert problem.cost == 0
    np.testing.assert_allclose(problem.value(point), residuals @ residuals / 80, rtol=1e-13)
    np.testing.assert_allclose(problem.grad(point), matrix.T @ residuals / 40, rtol=1e-12)
    np.testing.assert_allclose(
        problem.grad_batch(point, batch), matrix[batch].T @ residuals[batch] / 3, rtol=1e-12
    )
    assert problem.cost == 0.5 + 1 + 3 / 40
    assert problem.metrics(point) == {"objective": problem.value(point)}
    assert problem.start().tolist() == [0.0] * 5


def test_a_function_without_data_has_an_optimum_and_no_batches(registry):
    table = {
        "use": "jax-function",
        "function": lambda params: ((params - 1) ** 2).sum(),
        "start": np.zeros((2, 2)),
        "optimum": np.ones((2, 2)),
    }
    problem = build(registry, table)
    assert problem.metrics(np.full(4, 2.0)) == {"gap": 4.0, "objective": 4.0}
    with pytest.raises(BenchfwError, match="no data to draw batches from"):
        problem.grad_batch(problem.start(), np.array([0]))


@pytest.mark.thorough
def test_a_start_may_be_drawn_and_is_the_same_for_one_seed(registry):
    import jax

    table = {**LINE, "start": lambda key: {"slopes": jax.random.normal(key, 4), "offset": np.zeros(())}}
    starts = [build(registry, table, seed).start() for seed in (1, 1, 2)]
    assert starts[0].tolist() == starts[1].tolist() != starts[2].tolist()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"function": f"{EXAMPLE}:mean_sqare"}, "has no 'mean_sqare'; did you mean 'mean_square'"),
        ({"function": "loss"}, "'loss' is not of the form 'module:attribute'"),
        ({"function": lambda params, batch: batch["x"]}, "must return a number, and returns an array of"),
        (
            {"function": lambda params, batch: (batch["x"].sum(), 1)},
            "must return a number, and returns a tuple",
        ),
        ({"function": lambda params, batch: 1j * batch["x"].sum()}, r"array of shape \(\) of complex"),
        ({"start": {"slopes": np.zeros(4, int)}}, "floating-point numbers, got int64"),
        ({"data": {"x": np.zeros((3, 4)), "y": np.zeros(())}}, "a row for each sample"),
    ],
)
def test_what_does_not_make_a_problem_is_one_sentence(registry, change, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        build(registry, {**LINE, **change})


class Descent:
    """A solver in the style of JAXopt."""

    def __init__(self, fun, maxiter, stepsize):
        self.fun, self.maxiter, self.stepsize = fun, maxiter, stepsize

    def run(self, start):
        import jax

        step = lambda _, x: x - self.stepsize * jax.grad(self.fun)(x)  # noqa: E731
        return jax.lax.fori_loop(0, self.maxiter, step, start)


def constant_loop(fun, start, maxiter):
    for _ in range(maxiter):
        start = start - fun(start)
    return start


@pytest.mark.thorough
def test_a_solver_of_jax_is_called_with_its_iterations(registry):
    import jax
    from jax.scipy.optimize import minimize

    from benchfw_bridges.from_jax import example

    problem = build(registry, LINE)
    table = {"use": "jax-solver", "method": "BFGS", "options": {"gtol": 1e-9}}
    solver = prepare_method(registry.build("optimizer", table), problem, "run").method
    assert problem.cost == 0
    with jax.enable_x64(True):
        flat, unravel = jax.flatten_util.ravel_pytree(jax.tree.map(jax.numpy.asarray, example.start()))
        for effort in (1, 3, 20):
            by_hand = minimize(
                lambda each: example.mean_square(unravel(each), example.data()), flat, method="BFGS",
                options={"maxiter": effort, "gtol": 1e-9},
            )  # fmt: skip
            before = problem.declared_cost
            np.testing.assert_allclose(solver.solve(problem, None, effort), by_hand.x, rtol=0, atol=1e-9)
            assert problem.declared_cost - before == by_hand.njev
    matrix, targets = design()
    best = np.linalg.lstsq(matrix, targets, rcond=None)[0]
    np.testing.assert_allclose(solver.solve(problem, None, 100), best, rtol=0, atol=1e-7)


@pytest.mark.thorough
def test_a_class_in_the_style_of_jaxopt_is_a_solver(registry):
    problem = build(registry, LINE)
    table = {"use": "jax-solver", "function": f"{__file__}:Descent", "stepsize": 0.1}
    solver = prepare_method(registry.build("optimizer", table), problem, "run").method
    first = solver.solve(problem, None, 1)
    np.testing.assert_allclose(first, -0.1 * problem.grad(problem.start()), rtol=1e-12)
    assert problem.declared_cost == 0
    np.testing.assert_allclose(solver.solve(problem, None, 2), first - 0.1 * problem.grad(first), rtol=1e-12)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"metod": "BFGS"}, "jax.scipy.optimize:minimize has no option 'metod'; did you mean 'method'"),
        ({}, "jax.scipy.optimize:minimize needs the option 'method'"),
        ({"function": "jax.numpy:dot"}, "takes neither 'maxiter' nor 'options'"),
        ({"function": f"{__file__}:constant_loop"}, "takes its number of iterations as a constant"),
    ],
)
def test_a_wrong_solver_is_one_sentence(registry, table, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        prepare_method(
            registry.build("optimizer", {"use": "jax-solver", **table}), build(registry, LINE), "run"
        )
