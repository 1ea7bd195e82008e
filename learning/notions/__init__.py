"""Notions: what similar shall mean, said in words."""
