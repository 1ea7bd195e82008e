"""One label per pair from several votes: majority, unanimity, and models of the voters.

Only “similar” and “different” vote. Dawid-Skene, GLAD and MACE are sensitivity checks to be
reported beside the labels; with two or three experts they are weakly identified.
"""

from __future__ import annotations


def is_settled(n_similar: int, n_different: int, n_wanted: int, tie_rule: str) -> bool:
    """Say whether the majority can no longer change, whatever the missing votes will be.

    Args:
        n_similar: votes so far.
        n_different: votes so far.
        n_wanted: votes there will be at most, >= n_similar + n_different.
        tie_rule: "negative" counts a tie as different, so half of the votes are enough for it.
    """
    enough = 2 * n_different >= n_wanted if tie_rule == "negative" else 2 * n_different > n_wanted
    return 2 * n_similar > n_wanted or enough
