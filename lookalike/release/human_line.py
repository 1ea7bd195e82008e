"""The judges of a release beside its models."""

from __future__ import annotations

import numpy as np

from lookalike.agreement.human_line import HumanLine, human_line
from lookalike.release.format.folder import Folder
from lookalike.release.labelling import collect_votes


def release_human_line(release: Folder) -> HumanLine | None:
    """Return how well each judge agrees with the majority of the others, on the public labels.

    Returns:
        As `lookalike.agreement.human_line`; None where no pair has a majority of others.
    """
    ids = release.image_ids
    votes = collect_votes(ids, release.table("judgements"), release.table("rulings"), release.scale)
    code_of = {name: code for code, name in enumerate(ids)}
    labelled = [code_of[query] * len(ids) + code_of[image] for query, image, _ in release.qrels()]
    kept = np.isin(votes.keys[votes.pair_of], labelled)
    pairs, pair_of = np.unique(votes.pair_of[kept], return_inverse=True)
    _, query_of = np.unique(votes.keys[pairs] // len(ids), return_inverse=True)
    is_similar = votes.is_similar[kept].astype(np.bool_)
    return human_line(query_of[pair_of], pair_of, votes.judge_of[kept], is_similar)
