"""The sources of a pool: who may propose which candidates, and how."""
