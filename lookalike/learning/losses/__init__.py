"""What metric learning minimises: losses of a batch of vectors and its labels."""
