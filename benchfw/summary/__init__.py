"""Records in, numbers with intervals out."""
