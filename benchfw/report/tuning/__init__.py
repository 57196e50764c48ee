"""What a report says about tuning: who leads with how much of it, what was chosen, and what it cost."""
