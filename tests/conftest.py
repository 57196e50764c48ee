"""A toy plugin of one file with a helper beside it, trials of what it registers, and a browser."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry

# the same examples on every machine, and none of them too slow for a busy one
settings.register_profile("benchfw", derandomize=True, deadline=None, database=None, max_examples=60)
settings.load_profile("benchfw")

HELPER = '''"""Helps."""

FACTOR = 1.0
'''

TOYS = '''"""Toys: a bowl, a noisy gradient, a slide."""

from dataclasses import dataclass
from typing import Literal

import toy_helper
from benchfw import Composite, Distribution, Estimator, FiniteSum, Smooth, hookimpl


class Bowl:
    """Half the squared distance to a random centre."""

    cost_unit = "slopes"

    def __init__(self, backend, rng, size: int = 2, dataset: str = ""):
        self.backend, self.cost = backend, 0.0
        self.optimum = rng.standard_normal(size)

    def start(self):
        return self.backend.xp.zeros_like(self.optimum)

    def value(self, params):
        self.cost += 1
        return float(((params - self.optimum) ** 2).sum()) / 2 * toy_helper.FACTOR

    def grad(self, params):
        self.cost += 1
        return params - self.optimum

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"gap": self.value(answer)}


@dataclass(frozen=True)
class Noisy:
    """The gradient plus noise."""

    scale: float = 1.0
    distribution: Distribution | None = None
    solves = Smooth
    estimates = "grad"
    unbiased = True

    def draw(self, problem, rng):
        noise = self.scale * rng.standard_normal(problem.optimum.shape)
        return lambda params: problem.grad(params) + noise


@dataclass(frozen=True)
class Batched(Noisy):
    """Asks for more than a bowl has."""

    solves = FiniteSum


@dataclass(frozen=True)
class Slide:
    """Gradient descent."""

    step: float = 0.5
    mode: Literal["fast", "slow"] = "fast"
    layers: tuple[int, ...] = ()
    estimator: Estimator | None = None
    solves = Smooth

    def __post_init__(self):
        if self.step <= 0:
            raise ValueError(f"step must be positive, got {self.step}")

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            slope = self.estimator.draw(problem, rng)(x) if self.estimator else problem.grad(x)
            x = x - self.step * slope


@dataclass(frozen=True)
class Needy(Slide):
    """Asks for a proximal operator."""

    solves = Composite


@dataclass(frozen=True)
class Fixed:
    """Always cuts at one degree."""

    mean: int = 3


@hookimpl
def register_problems(register):
    register("bowl", Bowl)


@hookimpl
def register_estimators(register):
    register("noisy", Noisy)
    register("batched", Batched)


@hookimpl
def register_optimizers(register):
    register("slide", Slide)
    register("needy", Needy)


@hookimpl
def register_distributions(register):
    register("fixed", Fixed)
'''


@pytest.fixture
def plugin_file(tmp_path, monkeypatch):
    """Return a function that writes a plugin file; what it makes Python import is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def write(text=TOYS, name="toys.py"):
        path = Path(tmp_path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def toys(plugin_file):
    """The file of the toy plugin."""
    plugin_file(HELPER, "toy_helper.py")
    return plugin_file()


@pytest.fixture
def registry(toys):
    """A registry with the toys in it."""
    return Registry([str(toys)])


@pytest.fixture
def make_trial():
    """Return a function that makes a trial of the slide on the bowl, changed as asked."""

    def make(**changes):
        given = {
            "kind": "optimizer",
            "problem": Spec("bowl", {"size": 2}, "bowl"),
            "method": Spec("slide", {"step": 0.5}, "slide"),
            "backend": "numpy",
            "repetition": 0,
            "seed": 7,
            "budget": Budget(iterations=10),
        }
        return Trial(**{**given, **changes})

    return make


@pytest.fixture(scope="session")
def browser():
    """A Chromium for all tests of a session: `browser.open(path or address, width)`."""
    path = Path(__file__).parents[1] / "suites" / "tracked" / "_chromium.py"
    spec = importlib.util.spec_from_file_location("_chromium", path)
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    if driver.PROGRAM is None:
        pytest.skip("no chromium to open the page with")
    with driver.Chromium() as opened:
        yield opened
