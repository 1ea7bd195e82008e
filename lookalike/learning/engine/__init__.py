"""What every training here shares: randomness, steps, checkpoints."""
