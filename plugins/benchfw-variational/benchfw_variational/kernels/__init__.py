"""Array functions of this family, with a body per backend."""
