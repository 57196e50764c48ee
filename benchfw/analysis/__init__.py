"""Statistics of measured trials: arrays in, numbers out."""
