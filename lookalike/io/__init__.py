"""Reading files that people bring: errors with a place, CSV lines, runs, vectors. No Django."""
