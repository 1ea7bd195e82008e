"""Pages and downloads of releases."""
