"""What campaigns ask, by the content of the pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef

from annotation.models import Campaign, Judgement, Question, QuestionKind
from annotation.queries.kept import kept_of_each
from annotation.queries.prepared import columns_of
from catalog.images.content_pairs import content_pair
from lookalike.core.arrays import Ints

ANSWERED = """
select q.query_id, q.candidate_id from annotation_question q
where q.campaign_id = %s and q.kind = 'pair'
  and exists (select from annotation_judgement j where j.question_id = q.id)
"""


def asked_pairs() -> Any:
    """Return all questions, each with its `content_pair` (`catalog.images.content_pairs`)."""
    pair = content_pair("query__sha256", "candidate__sha256")
    return Question.objects.annotate(content_pair=pair).order_by()


def voted_pairs(campaigns: Iterable[Campaign]) -> Any:
    """Return the pairs of some campaigns that vote, with `is_judged`: whether anybody has."""
    judgements = Judgement.objects.filter(question=OuterRef("pk"))
    pairs = asked_pairs().filter(campaign__in=campaigns, kind=QuestionKind.PAIR)
    return pairs.annotate(is_judged=Exists(judgements))


def answered_pairs(campaign_ids: Collection[int]) -> Ints:
    """Return the pairs of some campaigns that anybody has answered, shape (n, 2), by image id."""
    found = kept_of_each(
        campaign_ids, "answered", lambda ids: {pk: _answered_pairs(pk) for pk in ids}
    )
    return np.concatenate([np.zeros((0, 2), np.int64), *found.values()])


def _answered_pairs(campaign_id: int) -> Ints:
    kinds = {"query": ">i8", "candidate": ">i8"}
    return np.stack(list(columns_of(ANSWERED, kinds, campaign_id).values()), axis=1)
