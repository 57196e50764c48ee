"""benchopt's benchmarks: an objective with data sets is a problem, each solver an optimizer."""
