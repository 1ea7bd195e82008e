"""The shapes of the drawn products, one module for each kind."""
