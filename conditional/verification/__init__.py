"""Templates and triplets put to a panel, answered and ruled on."""
