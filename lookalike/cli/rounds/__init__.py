"""`lookalike rounds`: judge a pool in part, and say what is known."""
