"""Readers of raw formats: {file name: path} in, arrays by name out; none reads a pickle."""
