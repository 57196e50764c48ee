"""JAX and Optax: functions as problems, gradient transformations and solvers as optimizers."""
