"""What plugins read while a trial runs: who asks, what counts, and how it is seen."""
