"""Ways to run a list of trials; each yields Started and Finished events."""
