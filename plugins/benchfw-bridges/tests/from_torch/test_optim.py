"""The optimizers of torch.optim: iterates as by hand, on problems of any backend."""

from __future__ import annotations

import copy
from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError, CountedProblem
from benchfw.backends import get_backend
from benchfw.registry import Registry

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

REGISTRY = Registry()
LOGISTIC = {"use": "logistic-regression", "samples": 60, "features": 8}
BOX = {"use": "box-least-squares", "samples": 60, "features": 8}
STEPS = 60
CLASSES = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.05},
    "AdamW": {"lr": 0.05, "weight_decay": 0.1},
    "Adadelta": {"lr": 1.0},
    "Adagrad": {"lr": 0.1},
    "RMSprop": {"lr": 0.01, "centered": True},
    "Rprop": {"lr": 0.1},
    "ASGD": {"lr": 0.1},
    "NAdam": {"lr": 0.05},
    "RAdam": {"lr": 0.05},
    "Adamax": {"lr": 0.05},
}


@pytest.fixture(autouse=True)
def backends():
    with REGISTRY.activate():
        yield


def build(table, backend="numpy", seed=3):
    own = get_backend(backend)
    return REGISTRY.build("problem", table, own, own.rng(seed))


def answers(problem, table, steps=STEPS, seed=5):
    method = REGISTRY.build("optimizer", table)
    if hasattr(method, "prepare"):
        method = method.prepare(problem)
    run = method.run(problem, problem.backend.rng(seed))
    return np.array([problem.backend.to_numpy(each) for each in islice(run, steps + 1)])


def by_hand(problem, name, options, gradient, steps=STEPS):
    """Return the iterates of torch's optimizer called as its manual does."""
    import torch

    params = torch.nn.Parameter(torch.from_numpy(problem.start()))
    optimizer = getattr(torch.optim, name)([params], **options)
    found = [params.detach().numpy().copy()]
    for _ in range(steps):
        optimizer.zero_grad()
        params.grad = torch.from_numpy(gradient(params.detach().numpy()))
        optimizer.step()
        found.append(params.detach().numpy().copy())
    return np.array(found)


@pytest.mark.parametrize("name", CLASSES)
def test_an_optimizer_gives_the_iterates_of_its_class_used_by_hand(name):
    problem, options = build(LOGISTIC), CLASSES[name]
    found = answers(problem, {"use": "torch-optim", "name": name, **options})
    wanted = by_hand(build(LOGISTIC), name, options, problem.grad)
    np.testing.assert_array_equal(found, wanted)
    assert problem.cost == 2 * STEPS  # both asked for as many gradients


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_adam_of_torch_and_ours_take_the_same_steps_on_the_same_draws(backend):
    estimator = {"use": "minibatch", "size": 7}
    ours = answers(build(LOGISTIC, backend), {"use": "adam", "step": 0.05, "estimator": estimator}, 200)
    table = {"use": "torch-optim", "name": "Adam", "lr": 0.05}
    theirs = answers(build(LOGISTIC, backend), {**table, "estimator": estimator}, 200)
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * np.abs(ours).max())
    batches = answers(build(LOGISTIC, backend), {**table, "batch": 7}, 200)
    np.testing.assert_array_equal(batches, theirs)


def test_lbfgs_gives_the_iterates_of_its_class_and_pays_for_every_call_of_its_closure():
    import torch

    problem, twin = build(LOGISTIC), build(LOGISTIC)
    options = {"lr": 1.0, "max_iter": 3, "line_search_fn": "strong_wolfe"}
    found = answers(problem, {"use": "torch-optim", "name": "LBFGS", **options}, 10)
    params = torch.nn.Parameter(torch.from_numpy(twin.start()))
    optimizer = torch.optim.LBFGS([params], **options)
    wanted = [params.detach().numpy().copy()]

    def closure():
        value, gradient = twin.value_and_grad(params.detach().numpy())
        params.grad = torch.from_numpy(gradient)
        return value

    for _ in range(10):
        optimizer.step(closure)
        wanted.append(params.detach().numpy().copy())
    np.testing.assert_array_equal(found, wanted)
    assert problem.cost == twin.cost > 10


def test_steps_are_projected_onto_the_feasible_set():
    problem = build(BOX)
    found = answers(problem, {"use": "torch-optim", "name": "SGD", "lr": 10.0})
    assert np.abs(found).max() == 0.1  # the bounds of the box


def test_the_parameters_are_the_same_memory_in_every_step_and_gradients_are_not_copied():
    import torch

    given = []

    class Watched(CountedProblem):
        backend = get_backend("numpy")

        def start(self):
            return np.ones(4)

        def grad(self, params):
            self._count(1.0)
            given.append((params.ctypes.data, gradient := params.copy()))
            return gradient

        def project(self, params):
            return params

    class Recorder(torch.optim.SGD):
        def step(self, closure=None):
            (parameter,) = self.param_groups[0]["params"]
            if given:  # not in the rehearsal, which is on a number
                assert parameter.data_ptr() == given[-1][0]
                assert parameter.grad.data_ptr() == given[-1][1].ctypes.data
            return super().step(closure)

    torch.optim.Recorder = Recorder
    try:
        method = REGISTRY.build("optimizer", {"use": "torch-optim", "name": "Recorder", "lr": 0.5})
        found = list(islice(method.run(Watched(), None), 4))
    finally:
        del torch.optim.Recorder
    assert [each[0] for each in found] == [1.0, 0.5, 0.25, 0.125]
    assert len({address for address, _ in given}) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"name": "RMSProp"}, "torch.optim has no optimizer 'RMSProp'; did you mean 'RMSprop'?"),
        ({"name": "SparseAdam"}, "has no optimizer 'SparseAdam'"),
        ({"name": "Muon"}, "has no optimizer 'Muon'"),
        ({"name": "Adam", "lrr": 0.1}, "torch.optim.Adam has no option 'lrr'; did you mean 'lr'?"),
        ({"name": "Adam", "lr": -1.0}, "torch.optim.Adam refuses its options: Invalid learning rate: -1.0"),
        ({"name": "Adam", "betas": [0.9]}, "torch.optim.Adam refuses its options: "),
        ({"name": "LBFGS", "line_search_fn": "wolfe"}, "refuses its options: only 'strong_wolfe' is"),
        ({"name": "LBFGS", "history_size": 0}, "torch.optim.LBFGS refuses its options: "),
        ({"name": "SGD", "estimator": {"use": "exact"}, "batch": 3}, "an estimator or a batch"),
        ({"name": "LBFGS", "batch": 3}, "torch.optim.LBFGS asks for values too"),
    ],
)
def test_a_wrong_name_or_option_is_one_sentence(table, words):
    with pytest.raises(BenchfwError, match="torch") as raised:
        REGISTRY.build("optimizer", {"use": "torch-optim", **table})
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_option_for_gpus_alone_is_refused_on_the_cpu_before_the_first_step():
    method = REGISTRY.build("optimizer", {"use": "torch-optim", "name": "Adam", "capturable": True})
    with pytest.raises(BenchfwError, match=r"torch.optim.Adam refuses its options: If capturable=True"):
        method.prepare(build(LOGISTIC))


def test_batches_of_a_problem_that_is_not_a_sum_are_refused():
    with pytest.raises(BenchfwError, match="the problem has no grad_batch; leave out batch"):
        answers(build({"use": "quadratic", "size": 4}), {"use": "torch-optim", "name": "SGD", "batch": 3})


def test_a_method_can_be_copied_before_it_runs():
    method = REGISTRY.build("optimizer", {"use": "torch-optim", "name": "Adam", "lr": 0.1})
    assert copy.deepcopy(method).options == {"lr": 0.1}
