"""Follows a repository over its commits: what ASV measures of kernels and tracked suites."""
