"""Modules of torch as problems: values and gradients of autograd, a start that the seed decides."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest

import benchfw
from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw.registry import Registry

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

REGISTRY = Registry()
FILE = """
import numpy as np
import torch

class Network(torch.nn.Module):
    def __init__(self, width=5):
        super().__init__()
        self.first = torch.nn.Linear(3, width)
        self.drop = torch.nn.Dropout(0.5)
        self.second = torch.nn.Linear(width, 2)

    def forward(self, x):
        return self.second(self.drop(torch.tanh(self.first(x))))

def data():
    rng = np.random.default_rng(1)
    return rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
"""
LOSS = "torch.nn.functional:cross_entropy"


@pytest.fixture(autouse=True)
def backends():
    with REGISTRY.activate():
        yield


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "networks.py"
    path.write_text(FILE, encoding="utf-8")
    return {"use": "torch-module", "module": f"{path}:Network", "data": f"{path}:data", "loss": LOSS}


def build(table, backend="numpy", seed=3):
    own = get_backend(backend)
    return REGISTRY.build("problem", table, own, own.rng(seed))


def by_hand(problem, batch=slice(None)):
    """Return value and gradient as torch's manual has them, at the start of a problem."""
    import torch

    module = problem._module
    torch.nn.utils.vector_to_parameters(torch.from_numpy(problem.start()), module.parameters())
    module.zero_grad()
    loss = torch.nn.functional.cross_entropy(module(problem._inputs[batch]), problem._targets[batch])
    loss.backward()
    return float(loss.detach()), torch.cat([each.grad.reshape(-1) for each in module.parameters()]).numpy()


def test_value_and_gradient_are_those_of_autograd_and_are_counted(table):
    problem = build(table)
    x = problem.start()
    value, gradient = by_hand(problem)
    assert problem.value(x) == value
    assert problem.cost == 0.5
    np.testing.assert_array_equal(problem.grad(x), gradient)
    assert problem.cost == 1.5
    batch = np.array([0, 7, 7, 12])
    np.testing.assert_array_equal(problem.grad_batch(x, batch), by_hand(problem, batch)[1])
    assert problem.cost == 1.6
    assert problem.metrics(x) == {"objective": value}
    assert problem.cost == 1.6
    assert x.dtype == gradient.dtype == np.float32


def test_the_seed_decides_the_start_and_the_state_of_torch_is_left_alone(table):
    import torch

    before = torch.get_rng_state()
    starts = [build(table, seed=each).start() for each in (3, 3, 4)]
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(starts[0], starts[1])
    assert not np.array_equal(starts[0], starts[2])


def test_all_backends_give_the_same_numbers(table):
    problems = [build({**table, "dtype": "float64"}, each) for each in ("numpy", "torch")]
    values = [
        each.backend.to_numpy(each.grad(each.backend.asarray(problems[0].start()))) for each in problems
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-14)
    assert values[0].dtype == np.float64


def test_options_go_to_the_module_and_our_optimizers_run_on_it(table):
    problem = build({**table, "width": 7})
    assert problem.start().shape == (3 * 7 + 7 + 7 * 2 + 2,)
    method = REGISTRY.build("optimizer", {"use": "adam", "step": 0.05})
    *_, last = islice(method.run(problem, problem.backend.rng(1)), 30)
    assert problem.metrics(last)["objective"] < problem.metrics(problem.start())["objective"]


def test_a_step_of_torch_is_that_of_the_module_trained_by_hand(table):
    import torch

    problem, twin = build(table), build(table)
    method = REGISTRY.build("optimizer", {"use": "torch-optim", "name": "Adam", "lr": 0.05}).prepare(problem)
    found = np.array(list(islice(method.run(problem, problem.backend.rng(1)), 31)))
    by_hand(twin)  # puts the start into the module
    module = twin._module
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    wanted = [twin.start()]
    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(twin._inputs), twin._targets).backward()
        optimizer.step()
        wanted.append(torch.nn.utils.parameters_to_vector(module.parameters()).detach().numpy().copy())
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("targets", "outputs", "loss", "wanted"),
    [
        ({}, 3, LOSS, [1, 0, 2, 0]),
        ({"targets": "classes"}, 3, LOSS, [1, 0, 2, 0]),
        ({"targets": "numbers"}, 1, "torch.nn.functional:mse_loss", np.array([0, -1, 2, -1]) / np.sqrt(1.5)),
    ],
    ids=["by default", "classes", "numbers"],
)
def test_whole_numbers_of_a_data_set_are_classes_or_standardized_numbers(
    tmp_path, monkeypatch, targets, outputs, loss, wanted
):
    np.savez(tmp_path / "counts.npz", x=np.eye(4)[:, :2], y=np.array([5, 3, 9, 3]))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    linear = {"use": "torch-module", "module": "torch.nn:Linear", "in_features": 2, "out_features": outputs}
    problem = build({**linear, "loss": loss, "dataset": "counts", "dtype": "float64", **targets})
    np.testing.assert_allclose(problem._targets, wanted, rtol=1e-15)
    assert np.isfinite(problem.value(problem.start()))


def test_a_module_and_data_from_python_are_compared(tmp_path):
    import torch

    from benchfw_bridges import TorchModule, TorchOptim

    module = torch.nn.Linear(2, 1)
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((30, 2))
    data = inputs, inputs @ np.array([1.0, -2.0])

    def regression(backend, rng):
        return TorchModule(backend, rng, module=module, loss=torch.nn.functional.mse_loss, data=data)

    result = benchfw.compare(
        {"linear": regression},
        {"sgd": TorchOptim("SGD", lr=0.1)},
        repetitions=2,
        budget={"iterations": 30},
        store=tmp_path / "store.sqlite",
        jobs=0,
        progress=False,
    )
    ends = result.frame.groupby("repetition")["value"].last()
    assert (ends < 1e-3).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"module": "networks"}, "is not of the form 'module:attribute'"),
        ({"loss": "torch.nn.functional:cross_entropi"}, "has no 'cross_entropi'"),
        ({"width": "x", "depth": 2}, "Network of torch-module cannot be called"),
        ({"module": "torch.nn.functional:relu"}, "cannot be called"),
        ({"dataset": "uci-like"}, "takes data or a dataset; give one of the two"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_sentence(table, change, words):
    with pytest.raises(BenchfwError) as raised:
        build({**table, **change})
    assert words in str(raised.value)
