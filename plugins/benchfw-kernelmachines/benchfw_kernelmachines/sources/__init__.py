"""Where training rows come from: memory, a memory-mapped file, or a stream that is never stored."""
