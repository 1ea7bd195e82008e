"""Reading files that people bring: errors with a place, CSV lines, vectors. No Django here."""
