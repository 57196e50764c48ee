"""Gradient descent for a number of iterations."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Gradient descent."""

    name = "GD"
    sampling_strategy = "iteration"
    parameters = {"relative_step": [1.0, 0.5]}

    def set_objective(self, X, y, weight):
        """Find the step."""
        self.X, self.y, self.weight = X, y, weight
        self.step = self.relative_step / (np.linalg.norm(X, 2) ** 2 + weight)

    def run(self, n_iter):
        """Make that many steps."""
        self.w = np.zeros(self.X.shape[1])
        for _ in range(n_iter):
            self.w = self.w - self.step * (self.X.T @ (self.X @ self.w - self.y) + self.weight * self.w)

    def get_result(self):
        """Return the weights."""
        return {"w": self.w}
