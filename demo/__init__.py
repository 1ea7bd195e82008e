"""The demo: a catalog rendered here, and simulated experts who judge it."""
