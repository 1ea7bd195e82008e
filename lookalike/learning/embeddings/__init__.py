"""An embedding of a catalog, learnt from what is known of its images."""
