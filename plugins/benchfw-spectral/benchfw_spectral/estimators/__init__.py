"""The estimators of the family, one a file."""
