"""Building retrieval templates from what is known of images: pure and seeded."""
