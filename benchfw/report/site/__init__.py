"""Pages about several runs: the findings."""
