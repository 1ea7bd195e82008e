"""Top-k search by inner product: exact on processor and GPU, and approximate."""
