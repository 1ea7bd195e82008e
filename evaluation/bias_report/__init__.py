"""The page about the bias of a campaign's pool."""
