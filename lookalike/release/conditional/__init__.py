"""The templates and triplets of a release."""
