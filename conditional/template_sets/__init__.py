"""Sets of retrieval templates: built, stored, shown, scored by models."""
