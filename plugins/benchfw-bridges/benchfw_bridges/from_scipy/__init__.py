"""SciPy: optimization and linear solvers as optimizers."""
