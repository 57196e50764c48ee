"""Optimizers of kernel machines."""
