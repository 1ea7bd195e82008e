"""What a run is worth against a label set: measures, pool bias, significance."""
