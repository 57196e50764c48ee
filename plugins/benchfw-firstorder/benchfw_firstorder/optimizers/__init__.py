"""The optimizers of the family, one a file."""
