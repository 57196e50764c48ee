"""What ASV times."""
