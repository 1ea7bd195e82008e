"""Models that turn images into vectors, named by a spec. Only tasks and commands load them."""
