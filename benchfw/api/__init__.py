"""The Python door: `benchfw.compare`, `run`, `load`, `runs`, and what the command line shares with them."""
