"""Least squares."""

from benchopt import BaseObjective


class Objective(BaseObjective):
    """Half the mean squared residual."""

    name = "Least squares"

    def set_data(self, X, y):
        """Keep the data."""
        self.X, self.y = X, y

    def get_objective(self):
        """Return what solvers are given."""
        return {"X": self.X, "y": self.y}

    def evaluate_result(self, w):
        """Return the value."""
        residual = self.X @ w - self.y
        return {"value": residual @ residual / (2 * len(self.y))}
