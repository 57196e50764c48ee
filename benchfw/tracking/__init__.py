"""Follows a repository over its commits: what ASV measures, and what the gate comments."""
