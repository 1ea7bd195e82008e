"""Words for the two labels of a pair."""

from __future__ import annotations

SIMILAR = frozenset({"similar", "same", "yes", "match", "1", "true"})
DIFFERENT = frozenset({"different", "dissimilar", "not similar", "no", "no match", "0", "false"})
SIMILAR_VOTE, DIFFERENT_VOTE = "similar", "different"
NO_VOTE = frozenset({"can't tell", "cant tell", "cannot tell", "cant_tell", "unsure", "skip"})


def plain_word(word: str) -> str:
    """Return a word as it is compared: small letters, straight apostrophes, single spaces."""
    return " ".join(word.strip().casefold().replace("’", "'").split())


def label_of(value: object) -> int | None:
    """Return the label that a word or truth value means, None for none.

    >>> [label_of(value) for value in ("Yes", "not similar", True, "perhaps")]
    [1, 0, 1, None]
    """
    if isinstance(value, bool):
        return int(value)
    word = plain_word(value) if isinstance(value, str) else ""
    return 1 if word in SIMILAR else 0 if word in DIFFERENT else None
