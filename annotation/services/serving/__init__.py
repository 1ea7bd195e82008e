"""From a queue to an answer: which pairs are lent, taken, closed early."""
