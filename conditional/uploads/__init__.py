"""Files of templates and triplets that admins bring."""
