"""What labels and the ranking of models would be without one judge."""
