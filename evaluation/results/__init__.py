"""What evaluations found: computed, stored, shown."""
