"""What judging buys: simulated campaigns, rounds with known probabilities, stopping, budgets."""
