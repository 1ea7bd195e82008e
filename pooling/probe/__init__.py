"""What each model of a planned pool would add, from a probe of some queries."""
