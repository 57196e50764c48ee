"""Gradient descent that calls back."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Gradient descent in place, with a callback."""

    name = "Calling-GD"
    sampling_strategy = "callback"

    def set_objective(self, X, y, weight):
        """Find the step."""
        self.X, self.y, self.weight = X, y, weight
        self.step = 1 / (np.linalg.norm(X, 2) ** 2 + weight)

    def run(self, callback):
        """Make steps as long as the callback says so."""
        self.w = np.zeros(self.X.shape[1])
        while callback():
            self.w -= self.step * (self.X.T @ (self.X @ self.w - self.y) + self.weight * self.w)

    def get_result(self):
        """Return the weights, which the next step changes."""
        return {"w": self.w}
