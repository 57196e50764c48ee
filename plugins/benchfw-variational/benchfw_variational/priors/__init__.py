"""Gaussian priors over latent values: K stored whole, of low rank, or known by its products alone."""
