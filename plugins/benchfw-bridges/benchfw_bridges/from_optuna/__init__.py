"""Optuna: a sampler as a tuner."""
