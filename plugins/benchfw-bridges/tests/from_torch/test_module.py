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
SQUARES = "torch.nn.functional:mse_loss"
OTHERS = """
import numpy as np
import torch
from torch.nn.functional import dropout, mse_loss

class Line(torch.nn.Linear):
    def __init__(self, width=1):
        super().__init__(3, width)

class Vector(Line):
    def forward(self, x):
        return super().forward(x)[:, 0]

class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Line(3), Line(3)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))[:, 0]

class Frozen(Tied):
    def __init__(self):
        super().__init__()
        self.first.bias.requires_grad_(False)

class Noisy(Line):
    def forward(self, x):
        return super().forward(dropout(x))

class Pair(Line):
    def forward(self, x):
        return super().forward(x), x

def first(outputs, targets):
    return mse_loss(outputs[0][:, 0], targets)

def total(outputs, targets):
    return mse_loss(outputs, targets, reduction="sum")

def each(outputs, targets):
    return mse_loss(outputs, targets, reduction="none")

def number(outputs, targets):
    return mse_loss(outputs, targets).item()

def data():
    rows = np.random.default_rng(1).standard_normal((40, 3))
    return rows, rows @ np.arange(3.0)

def column():
    rows, targets = data()
    return rows, targets[:, None]

def three():
    return *data(), 1
"""


@pytest.fixture(autouse=True)
def backends():
    with REGISTRY.activate():
        yield


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "networks.py"
    path.write_text(FILE, encoding="utf-8")
    return {"use": "torch-module", "module": f"{path}:Network", "data": f"{path}:data", "loss": LOSS}


@pytest.fixture
def line(tmp_path):
    """Return what makes a table of a module, a loss and data of the file."""
    path = tmp_path / "others.py"
    path.write_text(OTHERS, encoding="utf-8")

    def table(module="Line", loss=SQUARES, data="data", **options):
        places = {"module": module, "loss": loss, "data": data}
        full = {key: each if ":" in each else f"{path}:{each}" for key, each in places.items()}
        return {"use": "torch-module", **full, **options}

    return table


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


def test_a_column_that_only_outputs_or_only_targets_have_is_left_out(line):
    problems = [
        build(line(module, data=data, dtype="float64"))
        for module in ("Line", "Vector")
        for data in ("data", "column")
    ]
    inputs, targets = problems[0]._inputs.numpy(), problems[0]._targets.numpy()
    *weights, offset = problems[0].start()
    for each in problems:
        wanted = np.mean((inputs @ weights + offset - targets) ** 2)
        assert each.value(each.start()) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("module", "size"), [("Tied", 9 + 3 + 3), ("Frozen", 9 + 3)])
def test_shared_parameters_count_once_and_frozen_ones_not_at_all(line, module, size):
    problem = build(line(module, dtype="float64"))
    x = problem.start()
    assert x.shape == (size,)
    slopes = [(problem.value(x + step) - problem.value(x - step)) / 2e-6 for step in 1e-6 * np.eye(size)]
    np.testing.assert_allclose(problem.grad(x), slopes, rtol=1e-6, atol=1e-8)


def test_a_loss_of_ones_own_may_take_outputs_that_are_no_tensor(line):
    problem, plain = build(line("Pair", "first")), build(line())
    np.testing.assert_array_equal(problem.grad(problem.start()), plain.grad(plain.start()))


def test_batches_are_refused_of_a_loss_that_is_no_mean_and_its_gradient_is_not(line):
    problem, mean = build(line(loss="total", dtype="float64")), build(line(dtype="float64"))
    x = problem.start()
    np.testing.assert_allclose(problem.grad(x), 40 * mean.grad(x), rtol=1e-12)
    with pytest.raises(BenchfwError, match="the loss is not a mean over the samples, for it is"):
        problem.grad_batch(x, np.arange(4))
    assert problem.cost == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": "each"}, "must return a tensor of one number, got shape (40,)"),
        ({"loss": "number"}, "must return a tensor of one number, got float"),
        ({"loss": "torch.nn:MSELoss"}, "MSELoss is a class; give a function, such as torch.nn.functional:"),
        ({"data": "three"}, "must be two arrays, inputs and targets, got 3 things"),
        ({"data": "column", "width": 2}, "outputs of Line have shape (40, 2), and targets shape (40, 1)"),
        ({"module": "Noisy"}, "in evaluation mode a module must not draw random numbers"),
        ({"module": "torch.nn:Flatten"}, "Flatten of torch-module has no parameters to train"),
        ({"module": "torch.nn:LazyLinear", "out_features": 1}, "has parameters without a shape; give all"),
        ({"width": -1}, "Line of torch-module cannot be called: Trying to create tensor with negative"),
    ],
)
def test_what_is_no_function_of_parameters_is_one_sentence(line, given, words):
    with pytest.raises(BenchfwError) as raised:
        build(line(**given))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("complex64", "Linear of torch-module has complex parameters; use real ones"),
        ("bfloat16", "must have one type that NumPy has, and have: torch.bfloat16; give dtype"),
    ],
)
def test_parameters_of_a_type_that_no_method_takes_are_refused(kind, words):
    import torch

    from benchfw_bridges import TorchModule

    numpy, loss = get_backend("numpy"), torch.nn.functional.mse_loss
    data = np.ones((4, 3)), np.ones(4)
    given = {"module": torch.nn.Linear(3, 1, dtype=getattr(torch, kind)), "loss": loss, "data": data}
    with pytest.raises(BenchfwError) as raised:
        TorchModule(numpy, numpy.rng(1), **given)
    assert words in str(raised.value)


def test_a_module_that_is_made_already_takes_no_options():
    import torch

    from benchfw_bridges import TorchModule

    numpy = get_backend("numpy")
    given = {"module": torch.nn.Linear(3, 1), "loss": torch.nn.functional.mse_loss}
    with pytest.raises(BenchfwError, match="Linear of torch-module is made already, and takes no 'width'"):
        TorchModule(numpy, numpy.rng(1), **given, data=(np.ones((4, 3)), np.ones(4)), width=2)


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
