"""Maps of catalogs: an embedding set laid out in the plane by a worker, and areas as filters."""
