"""How the measures of a bias report are called."""

from __future__ import annotations

from lookalike.bias.measurements import EQUAL_OUTSIDER, MACRO_AP, MACRO_AUC, MICRO_AP, MICRO_AUC

MEASURE_TITLES = {
    MACRO_AUC: "macro ROC-AUC",
    MICRO_AUC: "micro ROC-AUC",
    MACRO_AP: "AP′, mean over queries",
    MICRO_AP: "AP′ over all pairs",
    EQUAL_OUTSIDER: "Equal-outsider AUC",
}


def measure_title(measure: str) -> str:
    """Return how a measure is called on pages.

    >>> measure_title("p@5")
    'P@5'
    """
    return MEASURE_TITLES.get(measure, measure.upper() if measure.startswith("p@") else measure)
