"""A solver that needs a package that does not exist."""

from benchopt import BaseSolver, safe_import_context

with safe_import_context() as import_ctx:
    from no_such_package_anywhere import solve


class Solver(BaseSolver):
    """Cannot be imported."""

    name = "Absent"
    requirements = ["pip::no-such-package-anywhere", "pip:old-package", "conda-forge::other-package"]

    def set_objective(self, X, y, weight):
        """Keep the data."""
        self.X, self.y = X, y

    def run(self, n_iter):
        """Solve."""
        self.w = solve(self.X, self.y, n_iter)

    def get_result(self):
        """Return the weights."""
        return {"w": self.w}
