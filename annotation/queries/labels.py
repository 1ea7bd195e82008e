"""Labels and votes of a campaign, as arrays: what pools, evaluations and exports build on.

A pair without a vote has no row. `Judgement.is_counted` says which votes count: no surplus ones,
none that an admin has excluded, no “can't tell”, no “skip”. Control questions (gold, repeats,
mirrored pairs, training) never do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from annotation.models import Adjudication, Campaign, Judgement, PanelMember, Question
from annotation.queries.prepared import columns_of
from lookalike.agreement import coefficients as measures
from lookalike.agreement.grades import (
    NO_GRADE,
    OrdinalAgreement,
    median_grades,
    ordinal_agreement,
)
from lookalike.agreement.majority import majority
from lookalike.core.arrays import Bools, Ints

NOBODY = 0  # no judge has this id
RULINGS = """
select q.query_id, q.candidate_id, (a.answer ^@ 'similar')::int,
       coalesce(nullif(split_part(a.answer, ':', 2), '')::int, -1)
from annotation_adjudication a join annotation_question q on q.id = a.question_id
where q.campaign_id = %s
"""
# One row for each vote: the database counts them by pair in twice the time that it takes here.
VOTES = """
select q.query_id, q.candidate_id, j.member_id, {answer}
from annotation_question q join annotation_judgement j on j.question_id = q.id
where q.campaign_id = %s and q.kind = 'pair' and j.is_counted and j.member_id <> %s
"""
SIDE = "case when j.answer ^@ 'similar' then 1 when j.answer ^@ 'different' then 0 else -1 end"
GRADE = "case when j.answer ~ ':[0-9]$' then right(j.answer, 1)::int else -1 end"
RULED = {"query": ">i8", "candidate": ">i8", "ruling": ">i4", "grade": ">i4"}
CAST = {"query": ">i8", "candidate": ">i8", "member": ">i8", "answer": ">i4"}


class Label(NamedTuple):
    """The outcome of one pair; `label` is None where the rule leaves it undecided."""

    query_id: int
    candidate_id: int
    n_similar: int
    n_different: int
    label: bool | None


@dataclass(frozen=True)
class LabelTable:
    """The outcome of every judged pair, ordered by query and candidate.

    Attributes:
        query_ids: shape (n_pairs,), image ids.
        candidate_ids: shape (n_pairs,), image ids.
        n_similar: shape (n_pairs,), counted votes.
        n_different: shape (n_pairs,), counted votes.
        is_similar: shape (n_pairs,); False where not decided.
        is_decided: shape (n_pairs,).
        is_ruled: shape (n_pairs,); True where an admin's ruling is the label, whatever the votes.
        grade_counts: shape (n_pairs, n_grades), counted votes; None where nothing is graded.
        grades: shape (n_pairs,), that of the ruling or the median, the lower of two, -1 where not
            decided; None where nothing is graded.
    """

    query_ids: Ints
    candidate_ids: Ints
    n_similar: Ints
    n_different: Ints
    is_similar: Bools
    is_decided: Bools
    is_ruled: Bools
    grade_counts: Ints | None = None
    grades: Ints | None = None

    def __len__(self) -> int:
        return int(self.query_ids.size)

    def __iter__(self) -> Iterator[Label]:
        columns = (self.query_ids, self.candidate_ids, self.n_similar, self.n_different)
        outcomes = zip(self.is_similar.tolist(), self.is_decided.tolist(), strict=True)
        labels = [is_similar if is_decided else None for is_similar, is_decided in outcomes]
        yield from map(Label, *(column.tolist() for column in columns), labels)


@dataclass(frozen=True)
class VoteTable:
    """Every counted vote, ordered by query, candidate and the judge's place on the panel.

    Attributes:
        query_ids: shape (n_votes,), image ids.
        candidate_ids: shape (n_votes,), image ids.
        annotator_ids: shape (n_votes,), user ids.
        is_similar: shape (n_votes,).
        is_different: shape (n_votes,); a pick is neither.
        grades: shape (n_votes,), -1 where none was given; None where nothing is graded.
    """

    query_ids: Ints
    candidate_ids: Ints
    annotator_ids: Ints
    is_similar: Bools
    is_different: Bools
    grades: Ints | None = None

    @property
    def pair_of(self) -> Ints:
        """The number of each vote's pair, counted from 0 in their order, shape (n_votes,)."""
        is_new = (np.diff(self.query_ids) != 0) | (np.diff(self.candidate_ids) != 0)
        pairs: Ints = np.append(0, np.cumsum(is_new))[: self.query_ids.size]
        return pairs


def labels(
    campaign: Campaign, rule: str | None = None, *, without: PanelMember | None = None
) -> LabelTable:
    """Return the label of every pair with a vote or a ruling.

    Args:
        campaign: whose pairs.
        rule: "negative", "undecided" or "unanimous"; the campaign's own rule if None.
        without: a judge whose votes are left out, to see what they change.

    Raises:
        ValueError: an unknown rule.
    """
    return labels_from(votes(campaign, without=without), campaign, rule)


def labels_from(cast: VoteTable, campaign: Campaign, rule: str | None = None) -> LabelTable:
    """Return the label of every pair with a vote or a ruling, from votes that were read before.

    Args:
        cast: the votes of the campaign.
        campaign: whose pairs.
        rule: as for `labels`.

    Raises:
        ValueError: an unknown rule.
    """
    rulings = np.stack(list(columns_of(RULINGS, RULED, campaign.pk).values()), axis=1)
    pair_of = cast.pair_of
    first = np.flatnonzero(np.diff(pair_of, prepend=-1))
    judged = np.stack([cast.query_ids[first], cast.candidate_ids[first]], axis=1)
    (query_ids, candidate_ids), at = distinct_pairs(np.concatenate([judged, rulings[:, :2]]))
    counted, ruled = at[: len(judged)], at[len(judged) :]
    row_of = counted[pair_of]
    n_similar = np.bincount(row_of, cast.is_similar, len(query_ids)).astype(np.int64)
    n_different = np.bincount(row_of, cast.is_different, len(query_ids)).astype(np.int64)
    grade_counts = None
    if cast.grades is not None and campaign.kind.scale is not None:
        shape, is_graded = (len(query_ids), campaign.kind.scale.n_grades), cast.grades != NO_GRADE
        cells = row_of[is_graded] * shape[1] + cast.grades[is_graded]
        grade_counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    is_ruled, ruling = np.zeros((2, len(query_ids)), dtype=bool)
    is_ruled[ruled], ruling[ruled] = True, rulings[:, 2]
    outcome = majority(n_similar, n_different, rule or campaign.tie_rule)
    grades = None
    if grade_counts is not None:
        grades = np.where(outcome.is_decided, median_grades(grade_counts)[0], NO_GRADE)
        grades[ruled] = rulings[:, 3]
    return LabelTable(
        query_ids,
        candidate_ids,
        n_similar,
        n_different,
        is_similar=np.where(is_ruled, ruling, outcome.is_similar),
        is_decided=outcome.is_decided | is_ruled,
        is_ruled=is_ruled,
        grade_counts=grade_counts,
        grades=grades,
    )


def label_of(campaign: Campaign, question: Question, n_wanted: int = 0) -> str:
    """Return the answer that a question has come to; "" where it is undecided or has no vote.

    Args:
        n_wanted: how many votes it is to have, where that decides.
    """
    ruling = Adjudication.objects.filter(question=question).first()
    if ruling is not None and not campaign.kind.is_choice:
        return ruling.answer
    counted = Judgement.objects.filter(question=question, is_counted=True)
    votes = list(counted.values_list("answer", flat=True))
    found = campaign.kind.consensus(votes, max(n_wanted, len(votes)), campaign.tie_rule).answer
    return ruling.answer if ruling and not found else found


def find_pairs(table: LabelTable, query_ids: Ints, candidate_ids: Ints) -> Ints:
    """Return the row of each pair in a table, -1 where it has none.

    Args:
        table: of labels.
        query_ids: shape (n,), image ids.
        candidate_ids: shape (n,), image ids.
    """
    here, there = len(table), len(query_ids)
    ids = ((table.query_ids, query_ids), (table.candidate_ids, candidate_ids))
    _, at = distinct_pairs(np.stack([np.concatenate(columns) for columns in ids], axis=1))
    row_of = np.full(here + there, -1)
    row_of[at[:here]] = np.arange(here)
    return row_of[at[here:]]


def distinct_pairs(pairs: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """Return both columns of the distinct pairs in order, and the place of each pair among them.

    `np.unique(..., axis=0)` compares rows byte by byte, which takes several times as long.

    Args:
        pairs: shape (n, 2), ids of which no two of a column are 2^31 apart.
    """
    if not len(pairs):
        return (pairs[:, 0], pairs[:, 1]), np.zeros(0, np.int64)
    least = pairs.min(axis=0)
    queries, candidates = (pairs - least).T
    width = int(candidates.max()) + 1
    keys, at = np.unique(queries * width + candidates, return_inverse=True)
    return (keys // width + least[0], keys % width + least[1]), at


def votes(campaign: Campaign, *, without: PanelMember | None = None) -> VoteTable:
    """Return every counted vote, those of one judge left out where that is wanted."""
    scale = campaign.kind.scale
    statement = VOTES.format(answer=GRADE if scale else SIDE)
    cast = columns_of(statement, CAST, campaign.pk, NOBODY if without is None else without.pk)
    panel = campaign.panel.order_by("number").values_list("pk", "annotator_id")
    members, people = np.array(list(panel), np.int64).reshape(-1, 2).T
    by_id = np.argsort(members)
    place = by_id[np.searchsorted(members, cast["member"], sorter=by_id)]
    _, pair = distinct_pairs(np.stack([cast["query"], cast["candidate"]], axis=1))
    order = np.argsort(pair * len(members) + place)
    answer = cast["answer"][order]
    given = (cast["query"][order], cast["candidate"][order], people[place[order]])
    if scale is None:
        return VoteTable(*given, is_similar=answer == 1, is_different=answer == 0)
    grades = np.where(answer < scale.n_grades, answer, NO_GRADE)
    is_similar = grades >= scale.similar_from
    return VoteTable(*given, is_similar, (grades != NO_GRADE) & ~is_similar, grades)


def agreement(campaign: Campaign) -> measures.Agreement:
    """Return how much the panel agrees; the prevalence is of [different, similar]."""
    table = labels(campaign)
    return measures.agreement(np.stack([table.n_different, table.n_similar], axis=1))


def grade_agreement(campaign: Campaign) -> OrdinalAgreement | None:
    """Return how much the panel agrees on grades; None where there are none."""
    counts = labels(campaign).grade_counts if campaign.kind.scale else None
    return None if counts is None else ordinal_agreement(counts)
