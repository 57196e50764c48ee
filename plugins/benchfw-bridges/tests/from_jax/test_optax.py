"""Optax: the trajectories of its transformations are those of Optax used by hand."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.measure.trial import prepare_method
from benchfw.registry import Registry

pytestmark = [
    pytest.mark.families,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(each) for each in ("jax", "optax", "benchfw_firstorder")),
        reason="jax, optax or benchfw-firstorder is not installed",
    ),
]

EXAMPLE = "benchfw_bridges.from_jax.example"
LINE = {
    "use": "jax-function",
    "function": f"{EXAMPLE}:mean_square",
    "start": f"{EXAMPLE}:start",
    "data": f"{EXAMPLE}:data",
}
ROUNDING = 1e-12  # of numbers of about 1, after a few dozen steps of float64


@pytest.fixture(scope="module")
def registry():
    return Registry()


def build_problem(registry, table):
    backend = get_backend("numpy")
    return registry.build("problem", table, backend, backend.rng(3))


def iterate(registry, problem, table, count=30, seed=5):
    method = prepare_method(registry.build("optimizer", table), problem, "run").method
    return np.array(list(islice(method.run(problem, problem.backend.rng(seed)), count)))


def by_hand(transformation, count=30):
    """Return what Optax does on the example, used as its documentation does."""
    import jax
    import optax

    from benchfw_bridges.from_jax import example

    with jax.enable_x64(True):
        params = jax.tree.map(jax.numpy.asarray, example.start())
        rows, state, found = example.data(), transformation.init(params), []

        def loss(params):
            return example.mean_square(params, rows)

        @jax.jit
        def step(params, state):
            value, gradient = jax.value_and_grad(loss)(params)
            updates, state = transformation.update(
                gradient, state, params, value=value, grad=gradient, value_fn=loss
            )
            return optax.apply_updates(params, updates), state

        for _ in range(count):
            found.append(np.asarray(jax.flatten_util.ravel_pytree(params)[0]))
            params, state = step(params, state)
        return np.array(found)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("problem", [{"use": "least-squares", "samples": 50, "features": 6}, LINE])
def test_adam_of_optax_and_ours_give_the_same_iterates_for_the_same_cost(registry, problem, sampled):
    estimator = {"use": "minibatch", "size": 8} if sampled else {"use": "exact"}
    ours, theirs = build_problem(registry, problem), build_problem(registry, problem)
    one = iterate(registry, ours, {"use": "adam", "step": 0.1, "estimator": estimator})
    two = iterate(
        registry, theirs, {"use": "optax", "name": "adam", "learning_rate": 0.1, "estimator": estimator}
    )
    assert one.dtype == two.dtype == np.float64
    np.testing.assert_allclose(two, one, rtol=0, atol=ROUNDING)
    assert theirs.cost == pytest.approx(ours.cost, rel=1e-12)
    assert np.ptp(one, axis=0).min() > 0  # they move


@pytest.mark.thorough
def test_a_step_with_its_gradient_is_what_optax_does_by_hand(registry):
    import optax

    chain = [{"name": "clip_by_global_norm", "max_norm": 1}]
    rate = {"name": "exponential_decay", "init_value": 0.3, "transition_steps": 5, "decay_rate": 0.9}
    table = {"use": "optax", "chain": chain, "name": "lamb", "learning_rate": rate}
    found = iterate(registry, build_problem(registry, LINE), table)
    schedule = optax.exponential_decay(0.3, 5, 0.9)
    expected = by_hand(optax.chain(optax.clip_by_global_norm(1), optax.lamb(schedule)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)


@pytest.mark.thorough
@pytest.mark.parametrize("problem", [{"use": "least-squares", "samples": 50, "features": 6}, LINE])
def test_noise_has_the_seed_of_the_trial_and_two_transformations_have_two(registry, problem):
    noise = {"name": "add_noise", "eta": 1.0, "gamma": 0.5}
    table = {"use": "optax", "chain": [noise], "name": "noisy_sgd", "learning_rate": 0.1}
    one, again, other = (iterate(registry, build_problem(registry, problem), table, 5, s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert (one[0] == other[0]).all()
    assert (one[1:] != other[1:]).all()
    both = [noise, noise, {"name": "scale", "step_size": 0.1}]
    double = iterate(registry, build_problem(registry, problem), {"use": "optax", "chain": both}, 2)
    plain = iterate(registry, build_problem(registry, problem), {"use": "optax", "chain": both[2:]}, 2)
    single = iterate(registry, build_problem(registry, problem), {"use": "optax", "chain": both[1:]}, 2)
    assert (abs((double - plain)[1] - 2 * (single - plain)[1]) > ROUNDING).all()


def test_noise_with_a_key_of_its_own_is_what_optax_does_by_hand(registry):
    import optax

    table = {"use": "optax", "name": "noisy_sgd", "learning_rate": 0.1, "key": 3}
    for seed in (5, 6):
        found = iterate(registry, build_problem(registry, LINE), table, 10, seed)
        expected = by_hand(optax.noisy_sgd(0.1, key=3), 10)
        np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING)


def test_a_line_search_is_what_optax_does_by_hand_and_its_gradients_are_declared(registry):
    import optax

    problem = build_problem(registry, LINE)
    found = iterate(registry, problem, {"use": "optax", "name": "lbfgs"}, count=6)
    np.testing.assert_allclose(found, by_hand(optax.lbfgs(), count=6), rtol=0, atol=1e-9)
    # the first gradient, then a point or more in each of five searches
    assert problem.declared_cost == problem.cost >= 6
    assert problem.cost == int(problem.cost)


@pytest.mark.thorough
def test_the_gradients_of_a_line_search_are_counted_right(registry):
    import jax

    from benchfw_bridges.from_jax import example

    calls = []

    def noted(params, batch):
        jax.debug.callback(lambda: calls.append(1))
        return example.mean_square(params, batch)

    table = {**LINE, "function": noted}
    problem = build_problem(registry, table)
    method = prepare_method(registry.build("optimizer", {"use": "optax", "name": "lbfgs"}), problem, "run")
    jax.effects_barrier()
    calls.clear()
    list(islice(method.method.run(problem, None), 6))
    jax.effects_barrier()
    assert len(calls) == problem.cost


def test_an_estimator_that_corrects_its_batches_works_on_a_function_of_jax(registry):
    estimator = {"use": "svrg", "size": 4}
    problem = build_problem(registry, {"use": "least-squares", "samples": 50, "features": 6})
    one = iterate(registry, problem, {"use": "sgd", "step": 0.05, "estimator": estimator})
    two = iterate(
        registry, problem, {"use": "optax", "name": "sgd", "learning_rate": 0.05, "estimator": estimator}
    )
    np.testing.assert_allclose(two, one, rtol=0, atol=ROUNDING)


@pytest.mark.thorough
def test_polyak_steps_take_the_value_from_the_problem(registry):
    import optax

    table = {"use": "optax", "name": "polyak_sgd", "max_learning_rate": 0.2}
    found = iterate(registry, build_problem(registry, LINE), table)
    np.testing.assert_allclose(found, by_hand(optax.polyak_sgd(0.2)), rtol=0, atol=ROUNDING)
    plain = build_problem(registry, {"use": "least-squares", "samples": 50, "features": 6})
    first, second = iterate(registry, plain, table, count=2)
    with pytest.raises(BenchfwError, match="needs the value of the function, which an estimator does not"):
        iterate(registry, plain, {**table, "estimator": {"use": "minibatch"}})
    value, gradient = plain.value_and_grad(first)
    np.testing.assert_allclose(
        second, first - min(0.2, value / (gradient @ gradient)) * gradient, rtol=0, atol=ROUNDING
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("problem", [{"use": "least-squares", "samples": 50, "features": 6}, LINE])
@pytest.mark.parametrize("estimator", [None, {"use": "minibatch", "size": 8}])
@pytest.mark.parametrize("name", ["adam", "noisy_sgd"])
def test_nothing_is_compiled_on_the_clock(registry, problem, estimator, name):
    import jax

    compiled = []
    problem = build_problem(registry, {**problem, "batch_size": 8} if problem is LINE else problem)
    table = {"use": "optax", "name": name, "learning_rate": 0.1}
    method = registry.build("optimizer", table | ({"estimator": estimator} if estimator else {}))
    method = prepare_method(method, problem, "run").method

    def listen(event, *_, **__):
        compiled.extend([event] if "compile" in event else [])

    jax.monitoring.register_event_duration_secs_listener(listen)
    list(islice(method.run(problem, problem.backend.rng(5)), 5))
    assert not compiled
    jax.jit(lambda x: x + 1)(1.0)
    assert compiled  # it would have been heard


def test_answers_stay_in_the_box(registry):
    problem = build_problem(registry, {"use": "box-least-squares", "samples": 50, "features": 6})
    for answer in iterate(registry, problem, {"use": "optax", "name": "adam", "learning_rate": 1.0}):
        np.testing.assert_array_equal(problem.project(answer), answer)


@pytest.mark.thorough
def test_a_method_is_checked_without_starting_jax():
    code = (
        "from benchfw_bridges import optax_optimizer, jax_solver; import os; "
        "optax_optimizer('adam', learning_rate=0.1); jax_solver(method='BFGS'); "
        "print(len(os.listdir('/proc/self/task')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"name": "adm"}, "optax has no 'adm'; did you mean 'adam'?"),
        ({"name": "contrib.jax.tree.map"}, "optax.contrib has no 'jax'"),
        ({"name": "transforms.functools.partial"}, "optax.transforms has no 'functools'"),
        ({"name": "adam", "lr": 1.0}, "optax.adam has no option 'lr'; choose from: learning_rate, "),
        ({"name": "adam", "learnin_rate": 1.0}, "optax.adam has no option 'learnin_rate'; did you mean"),
        ({"name": "adam"}, "optax.adam needs the option 'learning_rate'"),
        ({"name": "lookahead", "fast_optimizer": {"name": "sgd"}}, "optax.lookahead needs pairs of"),
        ({"name": "contrib.dpsgd"}, "optax.contrib.dpsgd needs the gradient of every sample"),
        ({"name": "exponential_decay", "init_value": 1, "transition_steps": 1, "decay_rate": 1},
         "optax.exponential_decay is not a gradient transformation"),
        ({"name": "adam", "learning_rate": {"name": "cosine"}}, "optax has no 'cosine'"),
        ({}, 'optax needs the name of a transformation, as in name = "adam"'),
        ({"learning_rate": 0.1, "chain": [{"name": "sgd"}]}, "has the option 'learning_rate' and no name"),
        ({"chain": {"name": "adam"}}, "chain must be a list of tables in a list"),
    ],
)  # fmt: skip
def test_a_wrong_name_or_option_is_one_sentence(registry, table, sentence):
    with pytest.raises(BenchfwError) as raised:
        registry.build("optimizer", {"use": "optax", **table})
    assert sentence in str(raised.value)


@pytest.mark.thorough
def test_a_line_search_needs_a_function_of_jax_and_all_of_its_data(registry):
    plain = build_problem(registry, {"use": "least-squares", "samples": 50, "features": 6})
    with pytest.raises(BenchfwError, match="evaluates the function within a step"):
        iterate(registry, plain, {"use": "optax", "name": "lbfgs"})
    problem, table = build_problem(registry, LINE), {"use": "optax", "name": "lbfgs"}
    with pytest.raises(BenchfwError, match="changes with every batch; leave out the estimator"):
        iterate(registry, problem, {**table, "estimator": {"use": "minibatch"}})


@pytest.mark.thorough
def test_precision_is_that_of_the_trial_and_no_longer(registry):
    import jax

    single = {**LINE, "start": {"slopes": np.zeros(4, "f4"), "offset": np.zeros((), "f4")}}
    table = {"use": "optax", "name": "adam", "learning_rate": 0.1}
    assert iterate(registry, build_problem(registry, single), table, 3).dtype == np.float32
    assert iterate(registry, build_problem(registry, LINE), table, 3).dtype == np.float64
    assert not jax.config.jax_enable_x64
