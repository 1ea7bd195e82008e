"""Access tokens of people who use the API: made, listed, revoked."""
