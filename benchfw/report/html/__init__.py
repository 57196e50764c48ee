"""Pages: one folder a run that opens from disk, and the page over all runs."""
