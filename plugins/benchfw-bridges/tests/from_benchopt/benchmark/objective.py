"""Ridge regression."""

import numpy as np
from benchmark_utils import ridge_value
from benchopt import BaseObjective


class Objective(BaseObjective):
    """Ridge regression."""

    name = "Small ridge"
    min_benchopt_version = "1.7"
    parameters = {"weight": [1.0, 0.1]}

    def skip(self, X, y):
        """Refuse data without columns."""
        return (True, "there are no columns") if X.shape[1] == 0 else (False, None)

    def set_data(self, X, y):
        """Keep the data."""
        self.X, self.y = X, y

    def get_objective(self):
        """Return what solvers are given."""
        return {"X": self.X, "y": self.y, "weight": self.weight}

    def evaluate_result(self, w):
        """Return the value, and two more numbers."""
        residual = self.X @ w - self.y
        return {
            "value": ridge_value(self.X, self.y, self.weight, w),
            "rmse": np.sqrt(np.mean(residual**2)),
            "model": "linear",
            "missing": None,
        }

    def get_one_result(self):
        """Return zeros."""
        return {"w": np.zeros(self.X.shape[1])}
