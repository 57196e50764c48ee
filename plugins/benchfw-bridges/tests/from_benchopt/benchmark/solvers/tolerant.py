"""Gradient descent up to a tolerance."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Gradient descent until the gradient is small against that at the start."""

    name = "Tolerant-GD"
    sampling_strategy = "tolerance"

    def set_objective(self, X, y, weight):
        """Find the step."""
        self.X, self.y, self.weight = X, y, weight
        self.step = 1 / (np.linalg.norm(X, 2) ** 2 + weight)

    @staticmethod
    def get_next(tolerance):
        """Return half of it, 1 at first."""
        return min(1.0, tolerance / 2)

    def pre_run_hook(self, tolerance):
        """Note the tolerance that follows."""
        self.expected = tolerance

    def run(self, tolerance):
        """Make steps until the gradient is small."""
        assert tolerance == self.expected
        self.w = np.zeros(self.X.shape[1])
        gradient = -self.X.T @ self.y
        most = tolerance * np.linalg.norm(gradient)
        while np.linalg.norm(gradient) > most:
            self.w = self.w - self.step * gradient
            gradient = self.X.T @ (self.X @ self.w - self.y) + self.weight * self.w

    def get_result(self):
        """Return the weights."""
        return {"w": self.w}
