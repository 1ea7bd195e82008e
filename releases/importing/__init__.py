"""Releases and labels taken back as campaigns."""
