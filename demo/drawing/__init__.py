"""The demo's catalog: products drawn by a program."""
