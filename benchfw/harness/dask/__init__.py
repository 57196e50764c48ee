"""Trials on a Dask cluster."""
