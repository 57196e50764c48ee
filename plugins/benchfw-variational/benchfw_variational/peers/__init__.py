"""Other libraries as optimizers, one a file; what is not installed is skipped, with the reason."""
