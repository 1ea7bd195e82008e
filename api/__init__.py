"""The REST API: access, errors, limits, paging, and the routes of every app."""
