"""Gradient descent, plain or accelerated."""

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """Gradient descent with steps of 1/L, and Nesterov's momentum if asked for."""

    name = "GD"
    sampling_strategy = "callback"
    parameters = {"momentum": [False, True]}

    def set_objective(self, X, y):
        """Keep the data and find the step."""
        self.X, self.y = X, y
        self.step = len(y) / np.linalg.norm(X, 2) ** 2

    def run(self, callback):
        """Make steps as long as the callback says so."""
        self.w = ahead = np.zeros(self.X.shape[1])
        count = 0
        while callback():
            before, count = self.w, count + 1
            self.w = ahead - self.step * self.X.T @ (self.X @ ahead - self.y) / len(self.y)
            ahead = self.w + self.momentum * (count - 1) / (count + 2) * (self.w - before)

    def get_result(self):
        """Return the weights."""
        return {"w": self.w}
