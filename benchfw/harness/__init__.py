"""Runs trials: in worker processes, on the clock, with seeds that hash coordinates."""
