"""Pictures that somebody else made: where they lie, what they are, which look the same."""
