"""Data sets in the folders that their authors publish: images, and what is known of them."""
