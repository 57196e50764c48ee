"""Estimators of the functional gradient."""
