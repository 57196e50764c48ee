"""What decides a record: building a trial, the clock, the counts, the looks."""
