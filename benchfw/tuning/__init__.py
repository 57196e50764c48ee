"""Chooses parameters of methods on seeds that the verdict never sees."""

from benchfw.tuning.tuners import Setting, Tried, Tuner

__all__ = ["Setting", "Tried", "Tuner"]
