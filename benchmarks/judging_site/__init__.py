"""The site with two bare views beside it, for benchmarks/judging.py."""
