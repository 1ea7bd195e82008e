"""Sets of triplets: imported, suggested, judged, scored by models."""
