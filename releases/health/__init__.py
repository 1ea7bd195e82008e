"""How a benchmark wears over its versions: asked for by members, computed by a worker."""
