"""Runs for experiment trackers: each module is a plugin that sends a run when it has finished."""
