"""Pure array functions with a body per backend."""
