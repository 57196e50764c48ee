"""A torch.nn.Module and a loss as a problem: values and gradients by autograd over one flat vector."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from benchfw import Array, Backend, BenchfwError, CodePlace, CountedProblem, DatasetName, Rng, Trusted
from benchfw.loading import load_attributes
from benchfw_bridges.from_torch.library import as_tensor, import_torch

Loss = Callable[[Any, Any], Any]
OwnPlace: TypeAlias = Annotated[CodePlace, Trusted(r"torch\.nn(\.functional)?:\w+")]
"""Code by its place; layers and losses of PyTorch run no code that their arguments name."""
ROUNDING = 1e-3
"""Losses that differ by less, relatively, may be the same."""


class TorchModule(CountedProblem):
    """The loss of a torch.nn.Module on data, a function of its parameters as one flat vector.

    F(x) = loss(module(inputs), targets), counted in gradients: a value costs ½, a gradient over a batch its
    share of the samples. The start are the module's own initial values, drawn from the problem's seed. The
    module is in evaluation mode, where dropout and batch normalization do not depend on chance or on the
    batch. Outputs of one column meet targets without columns as a vector, and the other way round.

    Parameters:
      module: what makes the module, a class or a function: "package.module:name" or "file.py:name", or from
        Python the class, the function, or a module, which then is the start.
      loss: loss(outputs, targets), a mean over the samples, such as "torch.nn.functional:mse_loss"; of one
        that is not, batches are refused.
      data: a function that returns inputs and targets with a row for each sample, or from Python these two.
      dataset: a data set by name in place of that: features, and targets that are numbers, are
        standardized, and classes are numbered from 0.
      targets: what the targets of that data set are. Without it, whole numbers are classes.
      dtype: the type of the parameters and of real data; the module's own, if not given.
      options: the arguments of what makes the module.
    """

    cost_unit = "gradients"
    check_with = (
        {
            "module": "torch.nn:Linear",
            "in_features": 3,
            "out_features": 1,
            "loss": "torch.nn.functional:mse_loss",
            "dataset": "uci-like(rows=40, features=3)",
            "dtype": "float64",
        },
    )

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        module: OwnPlace | Callable[..., Any],
        loss: OwnPlace | Loss,
        data: CodePlace | Callable[[], Any] | tuple[Any, Any] | None = None,
        dataset: DatasetName | None = None,
        targets: Literal["classes", "numbers"] | None = None,
        dtype: Literal["float32", "float64"] | None = None,
        **options: Any,
    ) -> None:
        torch = import_torch()
        if (data is None) == (dataset is None):
            raise BenchfwError("torch-module takes data or a dataset; give one of the two")
        make, self._loss, data = load_attributes(module, loss, data)
        if isinstance(self._loss, type):
            raise BenchfwError(
                f"loss of torch-module must be a function of outputs and targets, and {self._loss.__name__} "
                "is a class; give a function, such as torch.nn.functional:mse_loss"
            )
        self.backend = backend
        place = as_tensor(backend.asarray(np.zeros(1))).device
        made = _make_module(torch, make, options, rng)
        _check_parameters(torch, made)
        self._module = made.to(place, dtype and getattr(torch, dtype)).eval()
        named = {name: each for name, each in made.named_parameters() if each.requires_grad}
        kinds = {each.dtype for each in named.values()}
        if len(kinds) != 1 or not kinds <= {torch.float16, torch.float32, torch.float64}:
            found = ", ".join(sorted(map(str, kinds)))
            raise BenchfwError(
                f"the parameters of {type(made).__name__} must have one type that NumPy has, and have: "
                f"{found}; give dtype"
            )
        self._names, self._shapes = list(named), [each.shape for each in named.values()]
        self._sizes = [each.numel() for each in named.values()]
        self._start = self._array(torch.cat([each.detach().reshape(-1) for each in named.values()]))
        pair = _table(dataset, targets) if dataset is not None else data() if callable(data) else data
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            found = f"{len(pair)} things" if isinstance(pair, tuple | list) else type(pair).__name__
            raise BenchfwError(f"data of torch-module must be two arrays, inputs and targets, got {found}")
        self._inputs, self._targets = (_tensor(each, place, *kinds) for each in pair)
        self.num_samples = len(self._inputs)
        if len(self._targets) != self.num_samples or not self.num_samples:
            raise BenchfwError(
                f"data of torch-module must have a target for each row of the inputs, got "
                f"{self.num_samples} rows and {len(self._targets)} targets"
            )
        self._rehearse(torch)

    def start(self) -> Array:
        """Return a copy of the parameters that the module was made with."""
        return copy.deepcopy(self._start)

    def value(self, params: Array) -> float:
        """Return F."""
        self._count(0.5)
        return self._value(params)

    def grad(self, params: Array) -> Array:
        """Return ∇F, (d,)."""
        return self.value_and_grad(params)[1]

    def value_and_grad(self, params: Array) -> tuple[float, Array]:
        """Return F and ∇F for the price of the gradient."""
        self._count(1.0)
        value, gradient = self._differentiate(params, self._inputs, self._targets)
        return float(value), gradient

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the gradient of the loss on the samples in `batch`, (d,)."""
        if self._once_and_twice is not None:
            once, twice = self._once_and_twice
            raise BenchfwError(
                f"the loss is not a mean over the samples, for it is {once:.6g}, and {twice:.6g} with every "
                "sample twice: a batch does not estimate its gradient; give a mean or draw no batches"
            )
        self._count(batch.shape[0] / self.num_samples)
        rows = as_tensor(batch)
        return self._differentiate(params, self._inputs[rows], self._targets[rows])[1]

    def project(self, params: Array) -> Array:
        """Return the parameters: every point is feasible."""
        return params

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return the objective F(x)."""
        return {"objective": self._value(answer)}

    def _rehearse(self, torch: Any) -> None:
        """Compute the loss and a gradient, uncounted; BenchfwError where the loss is not a function of x.

        torch also loads much at the first gradient.
        """
        with torch.no_grad(), warnings.catch_warnings():
            warnings.filterwarnings("error", "Using a target size", UserWarning)  # of losses that broadcast
            outputs = self._outputs(list(self._split(self._start)), self._inputs)
            try:
                found = self._compare(outputs, self._targets)
            except UserWarning:
                shapes = tuple(outputs.shape), tuple(self._targets.shape)
                raise BenchfwError(
                    f"outputs of {type(self._module).__name__} have shape {shapes[0]}, and targets shape "
                    f"{shapes[1]}; the loss needs equal shapes"
                ) from None
        if not isinstance(found, torch.Tensor) or found.numel() != 1:
            got = f"shape {tuple(found.shape)}" if isinstance(found, torch.Tensor) else type(found).__name__
            raise BenchfwError(f"loss of torch-module must return a tensor of one number, got {got}")
        again = self._differentiate(self._start, self._inputs, self._targets)[0]
        once, second = float(found.detach()), float(again)
        if not np.isclose(second, once, rtol=ROUNDING, equal_nan=True):
            raise BenchfwError(
                f"the loss of {type(self._module).__name__} is {once:.6g}, and {second:.6g} at the same "
                "parameters: in evaluation mode a module must not draw random numbers, as a dropout without "
                "training=self.training does, or change its buffers"
            )
        self._once_and_twice: tuple[float, float] | None = None
        try:
            repeated = (torch.cat([each.detach()] * 2) for each in (outputs, self._targets))
            twice = float(self._compare(*repeated))
        except Exception:  # noqa: BLE001 - the loss takes these samples alone, or outputs of its own kind
            return
        if not np.isclose(twice, once, rtol=ROUNDING, equal_nan=True):
            self._once_and_twice = once, twice

    def _value(self, params: Array) -> float:
        import torch

        with torch.no_grad():
            return float(self._lose(list(self._split(params)), self._inputs, self._targets))

    def _differentiate(self, params: Array, inputs: Any, targets: Any) -> tuple[Any, Array]:
        """Return the loss, a tensor, and its gradient, an array of the backend."""
        import torch

        leaves = [each.requires_grad_() for each in self._split(params)]
        loss = self._lose(leaves, inputs, targets)
        parts = torch.autograd.grad(loss, leaves, materialize_grads=True)
        return loss.detach(), self._array(torch.cat([each.reshape(-1) for each in parts]))

    def _split(self, params: Array) -> Iterator[Any]:
        """Yield the tensors of the module as views of a flat vector."""
        for part, shape in zip(as_tensor(params).detach().split(self._sizes), self._shapes, strict=True):
            yield part.view(shape)

    def _lose(self, parameters: list[Any], inputs: Any, targets: Any) -> Any:
        return self._compare(self._outputs(parameters, inputs), targets)

    def _outputs(self, parameters: list[Any], inputs: Any) -> Any:
        import torch

        named = dict(zip(self._names, parameters, strict=True))
        return torch.func.functional_call(self._module, named, (inputs,))

    def _compare(self, outputs: Any, targets: Any) -> Any:
        """Return the loss; without the column that only one of the two has, or torch would pair all rows."""
        shape = getattr(outputs, "shape", None)  # a loss of one's own may take something else than a tensor
        if shape == (*targets.shape, 1):
            outputs = outputs.squeeze(-1)
        elif shape is not None and targets.shape == (*shape, 1):
            targets = targets.squeeze(-1)
        return self._loss(outputs, targets)

    def _array(self, tensor: Any) -> Array:
        return tensor.numpy() if self.backend.library == "numpy" else self.backend.asarray(tensor)


def _make_module(torch: Any, make: Any, options: Mapping[str, Any], rng: Rng) -> Any:
    """Return a module whose initial values come from the seed; a module that is given is copied."""
    if isinstance(make, torch.nn.Module):
        if options:
            raise BenchfwError(
                f"{type(make).__name__} of torch-module is made already, and takes no '{next(iter(options))}'"
            )
        made = copy.deepcopy(make)
    else:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(rng.integers(0, 1 << 63))
            try:
                made = make(**options)
            except (TypeError, ValueError, RuntimeError) as fault:
                name = getattr(make, "__name__", type(make).__name__)
                raise BenchfwError(f"{name} of torch-module cannot be called: {fault}") from fault
    if not isinstance(made, torch.nn.Module):
        raise BenchfwError(f"module of torch-module must make a torch.nn.Module, got {type(made).__name__}")
    return made


def _check_parameters(torch: Any, module: Any) -> None:
    name, parameters = type(module).__name__, list(module.parameters())
    if not any(each.requires_grad for each in parameters):
        raise BenchfwError(f"{name} of torch-module has no parameters to train")
    if any(map(torch.nn.parameter.is_lazy, parameters)):
        raise BenchfwError(
            f"{name} of torch-module has parameters without a shape; give all sizes in advance"
        )
    if any(each.is_complex() for each in parameters):
        raise BenchfwError(
            f"{name} of torch-module has complex parameters; use real ones, and torch.view_as_complex inside"
        )


def _tensor(values: Any, place: Any, dtype: Any) -> Any:
    """Return inputs or targets as a tensor; real numbers become those of the parameters."""
    found = as_tensor(values if hasattr(values, "__dlpack__") else np.asarray(values))
    return found.to(place, dtype if found.dtype.is_floating_point else found.dtype)


def _table(name: str, targets_are: str | None) -> tuple[Any, Any]:
    """Return the training rows of a data set, or all where it says nothing of it."""
    from benchfw.data import has_split, load, load_table

    arrays = load(name)
    features, targets = load_table(name, "train" if has_split(name, arrays) else "all", arrays=arrays)
    if targets_are is None:
        targets_are = "numbers" if targets.dtype.kind == "f" else "classes"
    if targets_are == "classes":
        return _standardized(features), np.unique(targets, return_inverse=True)[1]
    return _standardized(features), _standardized(targets)


def _standardized(values: Any) -> Any:
    from benchfw.data import deviations

    real = np.asarray(values, dtype=np.float64)
    spread = deviations(real)
    return (real - real.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
