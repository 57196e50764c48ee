"""A solver that does not call back."""

from benchfw import from_callback, hookimpl


@from_callback
def silent(problem, rng, callback):
    """Gradient descent that keeps its answers to itself."""
    x = problem.start()
    for _ in range(30):
        x = x - 0.1 * problem.grad(x)


@hookimpl
def register_optimizers(register):
    register("silent", silent)
