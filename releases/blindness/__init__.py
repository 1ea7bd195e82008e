"""What releases tell of pairs, set against what campaigns ask."""
