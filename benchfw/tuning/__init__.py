"""Chooses parameters of methods on seeds that the verdict never sees."""

from benchfw.tuning.tuners import Proposal, Tried, Tuner

__all__ = ["Proposal", "Tried", "Tuner"]
