"""Campaigns judged in rounds: what is drawn, what is known, when it is enough."""
