"""What a run found, in words, tables and figures: for the terminal and as a page."""
