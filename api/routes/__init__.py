"""The API's routes, one module for each app."""
