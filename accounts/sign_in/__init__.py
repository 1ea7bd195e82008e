"""Signing in: addresses, mails, second factors, single sign-on, and what limits guesses."""
