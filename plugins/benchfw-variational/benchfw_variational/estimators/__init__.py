"""Estimators of the bound's gradient in λ = (m, L)."""
