"""Visual-similarity benchmarks: pooling, agreement, measures, pool bias, releases. No Django."""
