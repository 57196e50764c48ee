"""Benchmarks are collected only where they are asked for: pytest tests/benchmarks --benchmark-only."""


def pytest_ignore_collect(collection_path, config):
    return None if config.getoption("benchmark_only", default=False) else True
