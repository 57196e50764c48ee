"""Other libraries, as optimizers; each is optional."""
