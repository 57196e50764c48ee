"""Trials in processes of this machine."""
