"""Optimizers of variational inference."""
