"""The judges of a release beside its models."""

from __future__ import annotations

import numpy as np

from lookalike.agreement.human_line import HumanLine, human_line
from lookalike.release.format.folder import Folder
from lookalike.release.labelling import collect_votes, pair_keys
from lookalike.stats.units import Units

VOTE = ("query_id", "image_id", "annotator", "answer", "is_counted")


def release_human_line(release: Folder) -> HumanLine | None:
    """Return how well each judge agrees with the majority of the others, on the public labels.

    Returns:
        As `lookalike.agreement.human_line`; None where no pair has a majority of others.
    """
    ids = release.image_ids
    judgements = release.table("judgements", [*VOTE, *(["grade"] if release.scale else [])])
    votes = collect_votes(ids, judgements, release.table("rulings"), release.scale)
    labelled = pair_keys(ids, release.compared(), "labels")
    kept = np.isin(votes.keys, labelled)[votes.pair_of]
    pairs, pair_of = np.unique(votes.pair_of[kept], return_inverse=True)
    queries, query_of = np.unique(votes.keys[pairs] // len(ids), return_inverse=True)
    units = Units.of([ids[query] for query in queries.tolist()], release.product_of)
    is_similar = votes.is_similar[kept].astype(np.bool_)
    return human_line(query_of[pair_of], pair_of, votes.judge_of[kept], is_similar, units=units)
