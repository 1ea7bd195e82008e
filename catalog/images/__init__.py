"""The pictures of a catalog: where they lie, how they are served and shown."""
