"""From uploaded files to images of a catalog."""
