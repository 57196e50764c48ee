"""Correlated topic models: documents, posteriors of their topics, and learning of θ."""
