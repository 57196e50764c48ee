"""The conformance checks, one file a role."""
