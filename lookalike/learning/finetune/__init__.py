"""Fine-tuning on identity and category, beside what it does to similarity."""
