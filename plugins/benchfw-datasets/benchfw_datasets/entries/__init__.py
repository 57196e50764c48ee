"""The catalog's entries as plain data, one file a family."""
