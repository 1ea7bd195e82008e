"""From captions to triplets: who does what with whom, how concrete that is, what to compare."""
