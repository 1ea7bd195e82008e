"""`lookalike learn ...`: similarity that is learnt."""
