"""What a bias report is made from: labels, proposals and runs as arrays of one pool."""
