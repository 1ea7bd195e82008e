"""Positives hidden among random negatives, and what they do to an AUC."""

from __future__ import annotations


def corrected_auc(
    observed: float, positives_wrong: float = 0.0, negatives_wrong: float = 0.0
) -> float:
    """Return the ROC-AUC under the true labels from the observed one, with some labels wrong.

    Source: Menon, van Rooyen, Ong, Williamson (ICML 2015): ½ + (1 - α - β)(AUC - ½) is to be
    observed, for label errors that do not depend on the score within a class. Print the result
    beside the raw value. It may pass 1 where the observed value is inconsistent with the shares;
    it is not clipped, so that this shows.

    Args:
        observed: the AUC as computed.
        positives_wrong: α, share of the labelled positives that are negatives.
        negatives_wrong: β, share of the labelled negatives that are positives.

    Returns:
        The corrected AUC.

    Raises:
        ValueError: if a share is negative or the two reach 1.
    """
    if positives_wrong < 0 or negatives_wrong < 0 or positives_wrong + negatives_wrong >= 1:
        raise ValueError(
            f"shares of wrong labels {positives_wrong} and {negatives_wrong} must not be "
            "negative and must sum to less than 1"
        )
    return 0.5 + (observed - 0.5) / (1.0 - positives_wrong - negatives_wrong)
