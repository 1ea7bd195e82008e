"""In which order pairs are asked: visits, shared orders, checks that leave with pairs. Pure."""
