"""Finding images: filters, facets, pages."""
