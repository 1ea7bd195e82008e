"""How well embedding sets tell the values of a catalog's attributes apart."""
