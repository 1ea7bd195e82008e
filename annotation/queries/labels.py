"""What the panel's judgements come to: votes and labels of pairs, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from annotation.models import Campaign, TieRule

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

COUNTS = """
select q.query_id, q.candidate_id,
       count(*) filter (where j.answer = 'similar' and not j.is_surplus),
       count(*) filter (where j.answer = 'different' and not j.is_surplus),
       count(*) filter (where j.answer not in ('similar', 'different')),
       coalesce(max(case a.answer when 'similar' then 1 when 'different' then 0 end), -1)
from annotation_question q
join annotation_judgement j on j.question_id = q.id
left join annotation_adjudication a on a.question_id = q.id
where q.campaign_id = %s and q.kind = 'pair'
group by q.id order by q.query_id, q.candidate_id
"""
VOTES = """
select q.query_id, q.candidate_id, m.number, (j.answer = 'similar')::int
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_panelmember m on m.id = j.member_id
where q.campaign_id = %s and q.kind = 'pair' and not j.is_surplus
  and j.answer in ('similar', 'different')
order by q.query_id, q.candidate_id, m.number
"""


@dataclass(frozen=True)
class PairLabels:
    """The judged pairs of a campaign, by query and candidate; a pair without a row is unjudged.

    Attributes:
        query_ids, candidate_ids: shape (n_pairs,), image ids.
        n_similar, n_different: shape (n_pairs,), the votes that count.
        n_silent: shape (n_pairs,), judges who could not tell or skipped.
        labels: shape (n_pairs,), 1 similar, 0 different; read it only where `is_decided`.
        is_decided: shape (n_pairs,), False for a tie under the rule "undecided" and where
            nobody's answer votes.
        is_adjudicated: shape (n_pairs,), an admin's ruling stands in for the vote.
    """

    query_ids: Ints
    candidate_ids: Ints
    n_similar: Ints
    n_different: Ints
    n_silent: Ints
    labels: Ints
    is_decided: Bools
    is_adjudicated: Bools


def labels(campaign: Campaign, rule: str = "majority") -> PairLabels:
    """Return the label of every judged pair.

    Args:
        campaign: its tie rule settles ties of the majority.
        rule: "majority" of the votes that count; "unanimous" is 1 only if all say similar, 0
            only if all say different, and undecided otherwise. An adjudication overrides both.

    Raises:
        ValueError: another rule.
    """
    if rule not in {"majority", "unanimous"}:
        raise ValueError(f"unknown rule {rule!r}; known: majority, unanimous")
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [campaign.pk])
        table = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 6)
    query_ids, candidate_ids, n_similar, n_different, n_silent, ruling = table.T
    n_votes = n_similar + n_different
    found = (n_similar > n_different).astype(np.int64)
    if rule == "unanimous":
        is_decided = (n_votes > 0) & ((n_similar == 0) | (n_different == 0))
    elif campaign.tie_rule == TieRule.NEGATIVE:
        is_decided = n_votes > 0
    else:
        is_decided = n_similar != n_different
    is_adjudicated = ruling >= 0
    return PairLabels(
        query_ids=query_ids,
        candidate_ids=candidate_ids,
        n_similar=n_similar,
        n_different=n_different,
        n_silent=n_silent,
        labels=np.where(is_adjudicated, ruling, found),
        is_decided=is_decided | is_adjudicated,
        is_adjudicated=is_adjudicated,
    )


def votes(campaign: Campaign) -> list[tuple[int, int, int, int]]:
    """Return (query image id, candidate image id, panel number, 1 or 0) of each counted vote.

    A judge appears by the number on the panel, never by name.
    """
    with connection.cursor() as cursor:
        cursor.execute(VOTES, [campaign.pk])
        return [(row[0], row[1], row[2], row[3]) for row in cursor.fetchall()]
