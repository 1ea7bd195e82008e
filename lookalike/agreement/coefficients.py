"""How much judges agree: percent agreement, Krippendorff's alpha, Gwet's AC1, Fleiss, Cohen.

Pure. Every figure but Cohen's comes from one table: how many judges gave which answer to which
question. Chance-corrected figures mean little without the prevalence: at 90 % agreement and 5 %
of one answer Cohen's kappa is below 0 (Feinstein and Cicchetti, 1990), so `agreement` always
returns it too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Agreement:
    """How much judges agree on the questions that at least two of them answered.

    Attributes:
        n_questions: questions with at least two votes; all figures are over these, except
            `prevalence`, which is over every vote.
        n_votes: votes on them.
        percent: chance that two random judges of a random question agree, 0..1.
        alpha: Krippendorff's, nominal.
        ac1: Gwet's.
        fleiss: Fleiss' kappa, NaN unless every question has the same number of votes.
        prevalence: share of each answer among all votes.
    """

    n_questions: int
    n_votes: int
    percent: float
    alpha: float
    ac1: float
    fleiss: float
    prevalence: list[float]


def agreement(counts: Ints) -> Agreement:
    """Return all figures at once.

    Args:
        counts: shape (n_questions, n_answers): how many judges gave that answer. Unanswered
            questions are rows of zeros; an answer nobody gave is a column of zeros.
    """
    votes = counts.sum(axis=1)
    total = int(counts.sum())
    shares = counts.sum(axis=0) / total if total else np.full(counts.shape[1], np.nan)
    return Agreement(
        n_questions=int((votes >= 2).sum()),
        n_votes=int(votes[votes >= 2].sum()),
        percent=percent_agreement(counts),
        alpha=krippendorff_alpha(counts),
        ac1=gwet_ac1(counts),
        fleiss=fleiss_kappa(counts),
        prevalence=[float(share) for share in shares],
    )


def percent_agreement(counts: Ints) -> float:
    """Return the mean share of agreeing pairs of votes over the questions with two or more.

    Args:
        counts: shape (n_questions, n_answers).

    Returns:
        0..1; NaN where no question has two votes.
    """
    kept = _judged_twice(counts)
    if not len(kept):
        return float("nan")
    return float(_agreeing(kept).mean())


def krippendorff_alpha(counts: Ints) -> float:
    """Return Krippendorff's alpha for nominal answers; judges may be missing.

    Source: Krippendorff, Content Analysis (2004), 11.3: 1 - D_o / D_e from the coincidences,
    in which a question with m votes gives each ordered pair of votes the weight 1 / (m - 1).

    Args:
        counts: shape (n_questions, n_answers); questions with fewer than two votes are left out.

    Returns:
        At most 1; NaN where all votes are equal (no disagreement could be expected; the package
        `krippendorff` raises there) or no question has two votes.
    """
    kept = _judged_twice(counts).astype(np.float64)
    if not len(kept):
        return float("nan")
    per_answer = kept.sum(axis=0)
    n = per_answer.sum()
    expected = (n**2 - (per_answer**2).sum()) / (n - 1.0)
    if expected <= 0:
        return float("nan")
    votes = kept.sum(axis=1)
    observed = ((votes**2 - (kept**2).sum(axis=1)) / (votes - 1.0)).sum()
    return float(1.0 - observed / expected)


def gwet_ac1(counts: Ints) -> float:
    """Return Gwet's AC1 for any number of judges, some of whom may be missing.

    Source: Gwet, Handbook of Inter-Rater Reliability (2014), ch. 5: (p_a - p_e) / (1 - p_e),
    p_e = Σ π_k (1 - π_k) / (q - 1), π_k the mean share of answer k over the questions with at
    least one vote. p_a is over the questions with two or more.

    Args:
        counts: shape (n_questions, n_answers); q is n_answers, at least 2.

    Returns:
        At most 1, and 1 where all votes are equal; NaN where no question has two votes.

    Raises:
        ValueError: there are fewer than two possible answers.
    """
    if counts.shape[1] < 2:
        raise ValueError("AC1 needs at least two possible answers")
    p_a = percent_agreement(counts)
    judged = counts[counts.sum(axis=1) >= 1]
    if np.isnan(p_a):
        return float("nan")
    pi = (judged / judged.sum(axis=1, keepdims=True)).mean(axis=0)
    p_e = (pi * (1.0 - pi)).sum() / (counts.shape[1] - 1)
    return float((p_a - p_e) / (1.0 - p_e))


def fleiss_kappa(counts: Ints) -> float:
    """Return Fleiss' kappa, which is defined for a fixed number of votes per question.

    Source: Fleiss (Psychological Bulletin 76, 1971), with P_e from the pooled shares.

    Args:
        counts: shape (n_questions, n_answers); questions without any vote are left out.

    Returns:
        At most 1; NaN where the questions have different numbers of votes or fewer than two,
        or all votes are equal.
    """
    votes = counts.sum(axis=1)
    kept = counts[votes > 0]
    if not len(kept) or votes[votes > 0].min() != votes.max() or votes.max() < 2:
        return float("nan")
    p_e = float(((kept.sum(axis=0) / kept.sum()) ** 2).sum())
    if p_e >= 1.0:
        return float("nan")
    return (float(_agreeing(kept).mean()) - p_e) / (1.0 - p_e)


def cohen_kappa(first: Ints, second: Ints) -> float:
    """Return Cohen's kappa of two judges on the questions that both answered.

    Args:
        first: shape (n_questions,), codes of answers.
        second: shape (n_questions,).

    Returns:
        At most 1; NaN without questions, or where both gave one and the same answer throughout.
    """
    if not first.size:
        return float("nan")
    codes = np.union1d(first, second)
    shares_1 = (first[:, None] == codes).mean(axis=0)
    shares_2 = (second[:, None] == codes).mean(axis=0)
    p_e = float(shares_1 @ shares_2)
    if p_e >= 1.0:
        return float("nan")
    return (float((first == second).mean()) - p_e) / (1.0 - p_e)


def cohen_kappas(table: Ints, is_given: Bools) -> Floats:
    """Return Cohen's kappa of every two judges.

    Args:
        table: shape (n_questions, n_judges), codes of answers; anything where not given.
        is_given: shape (n_questions, n_judges).

    Returns:
        Shape (n_judges, n_judges), symmetric; the diagonal is NaN.
    """
    n_judges = table.shape[1]
    kappas = np.full((n_judges, n_judges), np.nan)
    for i in range(n_judges):
        for j in range(i + 1, n_judges):
            both = is_given[:, i] & is_given[:, j]
            kappas[i, j] = kappas[j, i] = cohen_kappa(table[both, i], table[both, j])
    return kappas


def _judged_twice(counts: Ints) -> Ints:
    kept: Ints = counts[counts.sum(axis=1) >= 2]
    return kept


def _agreeing(counts: Ints) -> Floats:
    """Return, for each question, the share of its pairs of votes that agree."""
    counts = counts.astype(np.int64)  # a product of small ones may not fit into their own type
    votes = counts.sum(axis=1)
    shares: Floats = (counts * (counts - 1)).sum(axis=1) / (votes * (votes - 1))
    return shares
