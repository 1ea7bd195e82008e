"""Visual-similarity benchmarks: pooling, agreement, measures, pool bias, releases. No Django."""

__version__ = "0.1.0"
