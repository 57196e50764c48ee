"""The problems of the family, one a file."""
