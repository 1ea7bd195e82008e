"""What a run is worth against a label set: ranks, measures per query, uncertainty."""
