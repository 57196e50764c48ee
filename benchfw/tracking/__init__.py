"""The gate: what it comments on a pull request."""
