"""The entries as plain data, one file a kind of data; `twins` are the synthetic stand-ins."""
