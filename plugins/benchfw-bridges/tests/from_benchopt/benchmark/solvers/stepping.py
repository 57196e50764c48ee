"""Conjugate gradients, evaluated after every second iteration."""

import numpy as np
from benchopt import BaseSolver
from scipy.sparse.linalg import cg


class Solver(BaseSolver):
    """Conjugate gradients of SciPy."""

    name = "CG"

    def set_objective(self, X, y, weight):
        """Form the normal equations."""
        self.gram, self.right = X.T @ X + weight * np.eye(X.shape[1]), X.T @ y

    def run(self, n_iter):
        """Make that many iterations."""
        self.w = cg(self.gram, self.right, maxiter=n_iter, rtol=1e-12)[0] if n_iter else 0 * self.right

    @staticmethod
    def get_next(stop_val):
        """Return two more."""
        return stop_val + 2

    def get_result(self):
        """Return the weights."""
        return {"w": self.w}
