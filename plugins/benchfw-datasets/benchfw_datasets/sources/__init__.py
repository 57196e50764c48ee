"""Hosts of many data sets: `openml:NAME`, `libsvm:NAME` and `hf:NAME/SPLIT` are names of data sets."""
