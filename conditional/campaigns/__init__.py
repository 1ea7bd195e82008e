"""Templates and triplets put to a panel through a campaign: kinds of task, and what came of it."""
