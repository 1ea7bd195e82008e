"""How many checks stay in a visit whose pairs close early. Pure."""

from __future__ import annotations

PRIOR = 0.6  # pairs; where docs/simulations/control_classifier.py finds little in every campaign


def share_kept(n_here: int, n_gone: int) -> float:
    """Return which share of the checks of a visit is to be there yet.

    It is the chance that a further pair would be, by the rule of succession with a beta prior: as
    if `PRIOR` pairs more were there and as many gone. While no pair has gone, all checks are.

    Args:
        n_here: pairs of the visit that are asked yet.
        n_gone: pairs that were closed before the judge came to them.

    >>> share_kept(6, 0), share_kept(3, 3), round(share_kept(0, 6), 3)
    (1.0, 0.5, 0.083)
    """
    return (n_here + PRIOR) / (n_here + n_gone + 2 * PRIOR) if n_gone else 1.0


def chance_to_move(n_moved: int, n_here: int, n_gone: int, *, is_leaving: bool) -> float:
    """Return how likely a check moves along with pairs, if it did not move before.

    Args:
        n_moved: how many pairs of the visit have just left, or come back.
        n_here: as in `share_kept`, now.
        n_gone: likewise.
        is_leaving: whether they have left.
    """
    if is_leaving:
        return 1 - share_kept(n_here, n_gone) / share_kept(n_here + n_moved, n_gone - n_moved)
    return 1 - (1 - share_kept(n_here, n_gone)) / (
        1 - share_kept(n_here - n_moved, n_gone + n_moved)
    )
