"""What a bridge adds to a step of the library used by hand.

Run `python suites/tracked/bridges_overhead.py [LIBRARY …]`. Each row is one method on a small or a large
problem: CPU seconds a step by hand and on the clock of a trial, by one thread, in turn, the fewest of several
runs. It fails where steps of a millisecond or more take 10 % longer.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from _timing import with_one_thread

RUNS = 7
LONG = 1e-3  # seconds of a step from which on the share matters
MOST = 1.1


class Case(NamedTuple):
    """Two ways to take the same steps: each call returns its CPU seconds a step."""

    name: str
    by_hand: Callable[[], float]
    bridged: Callable[[], float]


def in_trial(make_method: Callable[[], Any], make_problem: Callable[[], Any], steps: int) -> float:
    """Return the CPU seconds a step, or a unit of effort, on the clock of a trial."""
    from benchfw.measure.optimizers import measure_optimizer
    from benchfw.measure.trial import collector, prepare_method
    from benchfw.records import Budget, Spec, Trial

    problem = make_problem()
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 1, Budget(iterations=steps))
    records, emit = collector()
    method = prepare_method(make_method(), problem, "run").method
    measure_optimizer(trial, problem, method, problem.backend.rng(1), emit)
    return float(records[-1].cpu_seconds or 0.0) / records[-1].iteration


def logistic(samples: int, features: int) -> Callable[[], Any]:
    """Return what makes the problem that the methods meet."""
    from benchfw.backends import get_backend
    from benchfw_firstorder import LogisticRegression

    backend = get_backend("numpy")
    made = LogisticRegression(backend, backend.rng(1), samples=samples, features=features, condition=1e4)
    return lambda: made  # its count goes on, which does no harm


SIZES = {"small": (100, 50, 100), "large": (20_000, 200, 10)}
"""Rows, columns, and steps that are taken."""


def scipy_cases() -> Iterator[Case]:
    """Yield methods of scipy.optimize.minimize."""
    from scipy.optimize import minimize

    from benchfw_bridges import ScipyMinimize
    from benchfw_bridges.from_scipy.minimize import ENDLESS

    for size, (*shape, steps) in SIZES.items():
        problem = logistic(*shape)
        for method in ("BFGS", "L-BFGS-B"):

            def by_hand(method: Any = method, problem: Any = problem, steps: int = steps) -> float:
                given = problem()
                options: Any = {**ENDLESS[method], "maxiter": steps}
                began = process_time()
                found: Any = minimize(
                    given.value_and_grad, given.start(), jac=True, method=method, options=options
                )
                return (process_time() - began) / int(found.nit)

            def bridged(method: Any = method, problem: Any = problem, steps: int = steps) -> float:
                return in_trial(lambda: ScipyMinimize(method), problem, steps)

            yield Case(f"scipy {method}, {size}", by_hand, bridged)


def sklearn_cases() -> Iterator[Case]:
    """Yield `fit` and `partial_fit` of scikit-learn."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    from benchfw_bridges import SklearnFit, SklearnPartialFit

    for size, (*shape, steps) in SIZES.items():
        problem = logistic(*shape)

        def fit(problem: Any = problem, steps: int = steps) -> float:
            given = problem()
            began = process_time()
            model = LogisticRegression(
                C=1 / (given.num_samples * given.ridge), tol=1e-15, max_iter=steps, fit_intercept=False
            )
            model.fit(given.features, given.targets)
            return (process_time() - began) / steps

        def fit_bridged(problem: Any = problem, steps: int = steps) -> float:
            method = SklearnFit()
            method.efforts = (steps,)
            return in_trial(lambda: method, problem, steps)

        def passes(problem: Any = problem, steps: int = steps) -> float:
            given = problem()
            random = np.random.RandomState(1)
            model = SGDClassifier(
                loss="log_loss", penalty="elasticnet", l1_ratio=0.0, alpha=given.ridge, random_state=random
            )
            model.set_params(fit_intercept=False)
            began = process_time()
            for _ in range(steps):
                model.partial_fit(given.features, given.targets, classes=[-1.0, 1.0])
            return (process_time() - began) / steps

        def passes_bridged(problem: Any = problem, steps: int = steps) -> float:
            return in_trial(SklearnPartialFit, problem, steps)

        yield Case(f"sklearn LogisticRegression.fit, {size}", fit, fit_bridged)
        yield Case(f"sklearn SGDClassifier.partial_fit, {size}", passes, passes_bridged)


def torch_cases() -> Iterator[Case]:
    """Yield Adam of torch.optim on a problem of NumPy, and on a module of torch."""
    import torch

    from benchfw_bridges import TorchModule, TorchOptim

    torch.set_num_threads(1)

    def adam() -> Any:
        return TorchOptim("Adam", lr=1e-3)

    def network(columns: int) -> Any:
        return torch.nn.Sequential(
            torch.nn.Linear(columns, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1), torch.nn.Flatten(0)
        )

    for size, (*shape, steps) in SIZES.items():
        problem = logistic(*shape)

        def by_hand(problem: Any = problem, steps: int = steps) -> float:
            given = problem()
            params = torch.nn.Parameter(torch.from_numpy(given.start()))
            array = params.detach().numpy()
            optimizer = torch.optim.Adam([params], lr=1e-3)
            began = process_time()
            for _ in range(steps):
                params.grad = torch.from_numpy(given.grad(array))
                optimizer.step()
            return (process_time() - began) / steps

        def bridged(problem: Any = problem, steps: int = steps) -> float:
            return in_trial(adam, problem, steps)

        yield Case(f"torch Adam, {size}", by_hand, bridged)

        given, loss = problem(), torch.nn.functional.mse_loss
        data = given.features.astype("float32"), given.targets.astype("float32")
        made = TorchModule(
            given.backend, given.backend.rng(1), module=network, columns=shape[1], loss=loss, data=data
        )

        def train(data: Any = data, columns: int = shape[1], steps: int = steps) -> float:
            module = network(columns)
            inputs, targets = map(torch.from_numpy, data)
            optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
            began = process_time()
            for _ in range(steps):
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(module(inputs), targets).backward()
                optimizer.step()
            return (process_time() - began) / steps

        def train_bridged(made: Any = made, steps: int = steps) -> float:
            return in_trial(adam, lambda: made, steps)

        yield Case(f"torch module, {size}", train, train_bridged)


def benchopt_cases() -> Iterator[Case]:
    """Yield gradient descent of the example benchmark, which calls back."""
    from benchfw.backends import get_backend
    from benchfw_bridges import BenchoptProblem, benchopt_solver
    from benchfw_bridges.from_benchopt.folder import EXAMPLE

    backend = get_backend("numpy")
    for size, (samples, features, steps) in SIZES.items():
        shape = {"n_samples": samples, "n_features": features}
        problem = BenchoptProblem(backend, backend.rng(1), benchmark=str(EXAMPLE), **shape)
        method = benchopt_solver(str(EXAMPLE), "GD")

        def by_hand(problem: Any = problem, method: Any = method, steps: int = steps) -> float:
            solver = method.prepare(problem).solver
            left = iter(range(steps))
            began = process_time()
            solver.run(lambda: next(left, None) is not None)
            return (process_time() - began) / steps

        def bridged(problem: Any = problem, method: Any = method, steps: int = steps) -> float:
            return in_trial(lambda: method, lambda: problem, steps)

        yield Case(f"benchopt GD, {size}", by_hand, bridged)


def jax_cases() -> Iterator[Case]:
    """Yield Adam of Optax: its gradients by JAX, compiled with the step, and by NumPy."""
    import functools

    import jax
    import optax

    from benchfw.backends import get_backend
    from benchfw_bridges import JaxFunction, optax_optimizer
    from benchfw_bridges.from_jax.runtime import start_jax

    start_jax()
    adam = optax.adam(0.01)

    def mean_loss(params: Any, batch: Any) -> Any:
        rows, targets = batch
        return jax.numpy.logaddexp(0.0, -targets * (rows @ params)).mean()

    def update(gradient: Any, params: Any, state: Any) -> Any:
        updates, state = adam.update(gradient, state, params)
        return optax.apply_updates(params, updates), state

    def step(data: Any, params: Any, state: Any) -> Any:
        return update(jax.grad(mean_loss)(params, data), params, state)

    def take_steps(advance: Callable[..., Any], start: Any, steps: int) -> float:
        with jax.enable_x64(True):
            params = jax.numpy.asarray(start)
            state = adam.init(params)
            jax.block_until_ready(advance(*advance(params, state)))  # compiled
            began = process_time()
            for _ in range(steps):
                params, state = advance(params, state)
            jax.block_until_ready(params)
            return (process_time() - began) / steps

    for size, (*shape, steps) in SIZES.items():
        problem = logistic(*shape)
        given = problem()
        data = (given.features, given.targets)
        backend = get_backend("numpy")
        made = JaxFunction(backend, backend.rng(1), function=mean_loss, start=given.start(), data=data)
        joint, separate = jax.jit(step), jax.jit(update)
        with jax.enable_x64(True):
            placed = jax.tree.map(jax.numpy.asarray, data)

        def by_numpy(params: Any, state: Any, given: Any = given, separate: Any = separate) -> Any:
            return separate(given.grad(np.asarray(params)), params, state)

        def method() -> Any:
            return optax_optimizer("adam", learning_rate=0.01)

        by_jax = functools.partial(joint, placed)
        begin = given.start()
        yield Case(
            f"optax adam, gradients by JAX, {size}",
            functools.partial(take_steps, by_jax, begin, steps),
            functools.partial(in_trial, method, lambda made=made: made, steps),
        )
        yield Case(
            f"optax adam, gradients by NumPy, {size}",
            functools.partial(take_steps, by_numpy, begin, steps),
            functools.partial(in_trial, method, problem, steps),
        )


LIBRARIES = {
    "benchopt": benchopt_cases,
    "scipy": scipy_cases,
    "sklearn": sklearn_cases,
    "torch": torch_cases,
    "jax": jax_cases,
}


def compare(case: Case) -> bool:
    """Print a row; return whether the bridge takes no more than it may."""
    case.by_hand(), case.bridged()
    pairs = [(case.by_hand(), case.bridged()) for _ in range(RUNS)]
    hand, bridge = (min(each) for each in zip(*pairs, strict=True))
    print(
        f"{case.name:40} {1e6 * hand:10.1f} µs a step by hand, {1e6 * bridge:10.1f} bridged: "
        f"{bridge / hand:.3f} times, {1e6 * (bridge - hand):+.1f} µs"
    )
    return hand < LONG or bridge <= MOST * hand


def main() -> None:
    """Compare the libraries that were named, or all that are installed."""
    with_one_thread()
    warnings.simplefilter("ignore")
    good = True
    for library in sys.argv[1:] or LIBRARIES:
        if importlib.util.find_spec(library) is None:
            print(f"{library} is not installed")
            continue
        for case in LIBRARIES[library]():
            good &= compare(case)
    if not good:
        raise SystemExit(f"a step of {1e3 * LONG:g} ms or more takes over {MOST:g} times as long")


if __name__ == "__main__":
    main()
