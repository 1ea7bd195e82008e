"""Models that may be related although they declare different families."""

from __future__ import annotations

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence

RELATED_LISTS = 0.8  # of the proposals in common
RELATED_SCORES = 0.6  # least correlation of errors that is a sign of anything
ALIKE = 0.9  # the same where too few other pairs of models show what is usual
FEWEST_PAIRS = 3
DEVIATIONS = 4.0  # robust standard deviations above the usual
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

    What unrelated models have is read from all other pairs of different families, by median and
    median absolute deviation of Fisher's z: one more pair of relatives hardly moves them.
    """
    names, common = evidence.models, evidence.common_errors
    families = [evidence.family_of(name) for name in names]
    pairs = [
        (i, j)
        for i in range(len(names))
        for j in range(i + 1, len(names))
        if families[i] != families[j]
    ]
    z = np.array([np.arctanh(np.clip(common[pair], -0.999, 0.999)) for pair in pairs])
    found = []
    for at, (i, j) in enumerate(pairs):
        if not {names[i], names[j]} & set(evidence.generators):
            continue
        others = np.delete(z, at)
        limit = np.arctanh(ALIKE)
        if others.size >= FEWEST_PAIRS:
            middle = float(np.median(others))
            spread = max(1.4826 * float(np.median(np.abs(others - middle))), _LEAST_SPREAD)
            limit = max(middle + DEVIATIONS * spread, float(np.arctanh(RELATED_SCORES)))
        if z[at] >= limit:
            first, second = (i, j) if names[i] in evidence.generators else (j, i)
            found.append((names[first], names[second], float(common[i, j])))
    return found
