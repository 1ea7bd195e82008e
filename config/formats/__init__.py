"""Dates and numbers where Django's are not ours."""
