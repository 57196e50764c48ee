"""How kernels and methods are called where only a Python name will do."""

from __future__ import annotations

import re


def identifier(name: str) -> str:
    """Return a name as Python writes classes: "soft-threshold" is SoftThreshold, "hutch++" HutchPlusPlus."""
    words = re.findall(r"[^\W_]+", name.replace("+", " plus "))
    return "".join(word[0].upper() + word[1:] for word in words)
