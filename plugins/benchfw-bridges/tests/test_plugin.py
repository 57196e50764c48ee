"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchfw.registry import Registry

LIBRARIES = ("sklearn", "torch", "jax", "optax", "benchopt", "optuna")
PACKAGE = "import benchfw_bridges"
REGISTERED = """
from benchfw.registry import Registry
for kind in ("problem", "optimizer", "tuner"):
    for entry in Registry().entries(kind).values():
        getattr(entry.factory, "check_with", ())
"""


@pytest.mark.parametrize(
    ("code", "libraries"),
    [(PACKAGE, ("scipy", *LIBRARIES)), (REGISTERED, LIBRARIES)],
    ids=["package", "names"],
)
def test_no_library_is_imported_with_the_package_or_with_what_it_registers(code, libraries):
    """Checks of every plugin look at all problems, in a process that they fork."""
    asked = f"{code}\nimport sys; print([each for each in {libraries} if each in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("kind", "name", "parameter", "trusted", "others"),
    [
        (
            "optimizer",
            "jax-solver",
            "function",
            ["jax.scipy.optimize:minimize"],
            ["jax.numpy:load"],
        ),
        ("optimizer", "sklearn", "estimator", ["svm.SVC", "sklearn.tree.ExtraTreeClassifier"], ["mine.SVC"]),
        ("optimizer", "sklearn-partial-fit", "estimator", ["linear_model.SGDRegressor"], ["svm.os.SVC"]),
        ("optimizer", "benchopt", "benchmark", [], ["folder"]),
        ("problem", "benchopt", "benchmark", [], ["folder"]),
        (
            "problem",
            "torch-module",
            "module",
            ["torch.nn:Linear"],
            ["torch.hub:load", "psutil:Popen"],
        ),
        ("problem", "torch-module", "loss", ["torch.nn.functional:mse_loss"], ["torch:load", "numpy:sum"]),
        ("problem", "torch-module", "data", [], ["torch.nn:Linear"]),
        ("problem", "jax-function", "function", [], ["jax.numpy:sum"]),
        ("problem", "jax-function", "start", [], ["jax.numpy:load"]),
        ("problem", "jax-function", "data", [], ["jax.numpy:load"]),
        ("problem", "jax-function", "optimum", [], ["jax.numpy:load"]),
    ],
)
def test_of_code_by_its_place_only_what_can_do_no_harm_is_trusted(kind, name, parameter, trusted, others):
    found = Registry().get(kind, name).parameters[parameter]
    assert found.names_code
    assert [each for each in [*trusted, *others] if found.trusts(each)] == trusted
