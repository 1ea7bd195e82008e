"""Where somebody is signed in: listed, and ended."""
