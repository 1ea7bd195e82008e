"""Models that may be related although they declare different families."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.core.arrays import Floats

RELATED_LISTS = 0.8  # of the proposals in common
RELATED_SCORES = 0.6  # least correlation of errors that is a sign of anything
ALIKE = 0.8  # the same where too few other pairs of models show what is usual
FEWEST_PAIRS = 3
DEVIATIONS = 3.0  # robust standard deviations above the usual
_LEAST_SPREAD = 0.05  # of Fisher's z


def undeclared_relatives(evidence: PoolEvidence) -> list[tuple[str, str, float]]:
    """Return models of different families that may be related, and how alike they are.

    A family is declared, and whoever does not declare it keeps the labels that its relatives
    made. Common errors show in the proposals, where independent models of like quality share far
    fewer than `RELATED_LISTS` of theirs, and in the scores of judged pairs, see
    `PoolEvidence.common_errors`.

    Args:
        evidence: the pool; lists of models outside it count only where they are known.

    Returns:
        (pooled model, the other, share of the first one's proposals that the other makes, or the
        correlation of their errors if that is what tells).
    """
    found = _shared_lists(evidence)
    known = {frozenset((first, second)) for first, second, _ in found}
    of_scores = [
        (first, second, value)
        for first, second, value in _related_scores(evidence)
        if frozenset((first, second)) not in known
    ]
    return found + of_scores


def _shared_lists(evidence: PoolEvidence) -> list[tuple[str, str, float]]:
    proposed = {
        name: ranks > 0 for name, ranks in zip(evidence.generators, evidence.ranks, strict=True)
    }
    listed = dict(proposed)
    if evidence.lists is not None:
        for name, ranks in zip(evidence.models, evidence.lists.ranks, strict=True):
            listed.setdefault(name, (ranks > 0) & (ranks <= evidence.depth))
    found = []
    for g, (name, mine) in enumerate(proposed.items()):
        for other, theirs in listed.items():
            is_before = other in evidence.generators[: g + 1]
            if is_before or evidence.family_of(name) == evidence.family_of(other):
                continue
            share = float((mine & theirs).sum() / max(mine.sum(), 1))
            if share >= RELATED_LISTS:
                found.append((name, other, share))
    return found


def _related_scores(evidence: PoolEvidence) -> list[tuple[str, str, float]]:
    """Return the pairs with more common errors than unrelated models have.

    The null distribution is that of other pairs of a pooled model and a model of another family,
    by median and median absolute deviation of Fisher's z. An outsider's pair with a pooled model
    is compared with pairs of the other pooled models, so that no crowd of copies of one model
    changes what is usual.
    """
    names, common = evidence.models, evidence.common_errors
    is_pooled = [name in evidence.generators for name in names]
    families = [evidence.family_of(name) for name in names]
    pairs = [
        (i, j)
        for i, j in combinations(range(len(names)), 2)
        if families[i] != families[j] and (is_pooled[i] or is_pooled[j])
    ]
    z = np.array([np.arctanh(np.clip(common[pair], -0.999, 0.999)) for pair in pairs])
    found = []
    for at, (i, j) in enumerate(pairs):
        first, second = (i, j) if is_pooled[i] else (j, i)
        own = set() if is_pooled[second] else {first}
        others = [place for place, pair in enumerate(pairs) if place != at and not own & {*pair}]
        if z[at] >= _limit(z[others]):
            found.append((names[first], names[second], float(common[i, j])))
    return found


def _limit(z: Floats) -> float:
    """Return from which Fisher's z on two models may be related, by that of unrelated pairs."""
    if z.size < FEWEST_PAIRS:
        return float(np.arctanh(ALIKE))
    middle = float(np.median(z))
    spread = max(1.4826 * float(np.median(np.abs(z - middle))), _LEAST_SPREAD)
    return max(middle + DEVIATIONS * spread, float(np.arctanh(RELATED_SCORES)))
