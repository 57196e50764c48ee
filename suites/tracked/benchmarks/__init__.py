"""What ASV runs: see asv.conf.json and docs/tracking.md."""
