"""Defaults that the commands of library and site share; no torch here."""

from __future__ import annotations

PUBLISHED_DIM = 128  # r' of InDiReCT's tables
