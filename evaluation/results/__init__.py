"""Results: computed, stored, shown."""
