"""What a run says about the claims that were registered before it."""
