"""Fill a pool: let one source propose, and derive what the proposals say together.

Only tasks and commands import this: the search loads torch.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import Any, NoReturn

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.bulk import copy_rows, refresh_statistics
from jobs.services import JobError, JobProgress
from lookalike.core.arrays import Ints
from lookalike.search.topk import TopK
from pooling.models import PoolQuery, PoolSource, Proposal
from pooling.pools.statistics import update_stats
from pooling.sources.proposers import Answer, propose

MANY = 1000  # proposals, after which the planner is told
SAME_SCORE = 1e-4  # two devices, or two builds of a library, may differ by so much


def run_source(*, source_id: int, progress: JobProgress) -> dict[str, Any]:
    """Let a source propose what it has not proposed yet, and store it; may run twice.

    Raises:
        JobError: the source cannot propose; the message names the model or image and why. Or
            its deeper list does not begin as the one that is stored.
        JobLostError: the job was cancelled or taken over; nothing more is stored.
    """
    sources = PoolSource.objects.select_related("pool__catalog", "pool__query_catalog")
    source = sources.filter(pk=source_id).first()
    if source is None:
        raise JobError("The pool was deleted.")
    PoolSource.objects.filter(pk=source_id).update(job=progress.job)
    if source.done_at is None or source.wanted_k is not None:
        answer = propose(source, source.wanted_k or source.k, progress)
        progress.update(source.pool.queries.count())
        store_proposals(source=source, answer=answer)
    update_stats(pool=source.pool)
    return {"source": source.spec, "n_proposals": source.n_proposals}


def store_proposals(*, source: PoolSource, answer: Answer) -> None:
    """Store all proposals of a source, or all further ranks, or nothing.

    A source that has reached the depth asked for is left alone.

    The first ranks of an exact search, or of scores, must be found again. An index may miss
    another candidate at each depth, so there the stored ranks stay the first, and the best of
    the others follow.

    Raises:
        JobError: a deeper list does not extend what is stored.
    """
    with transaction.atomic():
        locked = PoolSource.objects.select_for_update().get(pk=source.pk)
        if locked.done_at is None:
            locked.n_proposals = _copy_proposals(locked, answer, from_rank=0)
            locked.embedding_set = answer.embedding_set
            locked.query_embedding_set = answer.query_embedding_set
            locked.version = answer.version[:200]
            locked.recall = answer.found.recall
            locked.done_at = timezone.now()
            locked.save()
        elif locked.wanted_k is not None:
            if answer.found.recall:
                answer = _continued(locked, answer)
            else:
                _require_same_beginning(locked, answer)
            locked.n_proposals += _copy_proposals(locked, answer, from_rank=locked.k)
            locked.k, locked.wanted_k = locked.wanted_k, None
            locked.recall = answer.found.recall
            locked.done_at = timezone.now()
            locked.save()
    source.refresh_from_db()
    if source.n_proposals >= MANY:  # else the planner takes the tables for empty ones
        refresh_statistics(Proposal, PoolQuery)


Stored = dict[tuple[int, int], tuple[int, float]]  # (query id, rank): candidate id, score


def _stored(source: PoolSource) -> Stored:
    rows = Proposal.objects.filter(source=source).values_list(
        "query_id", "rank", "candidate_id", "score"
    )
    return {(query, rank): (candidate, score) for query, rank, candidate, score in rows}


def _continued(source: PoolSource, answer: Answer) -> Answer:
    """Return a deeper answer of an index with the stored ranks of its source as the first."""
    found, depth = answer.found, answer.found.nearest.k
    row_of = {image_id: row for row, image_id in enumerate(found.candidate_ids.tolist())}
    first: dict[int, dict[int, int]] = {}  # of each query: rank of each row that is stored
    score_of = {}
    for (query_id, rank), (candidate, score) in _stored(source).items():
        if candidate not in row_of:
            _refuse(source, f"rank {rank + 1} of a query has no vector any more")
        first.setdefault(query_id, {})[row_of[candidate]] = rank
        score_of[query_id, row_of[candidate]] = score
    indices = np.full_like(found.nearest.indices, -1)
    scores = np.full_like(found.nearest.scores, -np.inf)
    n_apart = 0
    for query, query_id in enumerate(found.query_ids.tolist()):
        mine = first.get(query_id, {})
        for row, rank in mine.items():
            indices[query, rank], scores[query, rank] = row, score_of[query_id, row]
        place, n_again = source.k, 0
        nearest = zip(found.nearest.indices[query], found.nearest.scores[query], strict=True)
        for row, score in ((int(row), float(score)) for row, score in nearest if row >= 0):
            if row in mine:
                n_again += 1
                if abs(score_of[query_id, row] - score) > SAME_SCORE:
                    _refuse(
                        source, f"rank {mine[row] + 1} of query {query + 1} scores otherwise now"
                    )
            elif place < depth:
                indices[query, place], scores[query, place] = row, score
                place += 1
        n_apart += len(mine) - n_again
    recall = {**found.recall, "n_apart": n_apart}
    return replace(answer, found=replace(found, nearest=TopK(indices, scores), recall=recall))


def _require_same_beginning(source: PoolSource, answer: Answer) -> None:
    """Raise JobError unless the stored ranks of a source are the first of its answer."""
    stored = _stored(source)
    queries, ranks = _proposed(answer)
    is_stored = ranks < source.k
    n_same = 0
    for query, rank in zip(queries[is_stored].tolist(), ranks[is_stored].tolist(), strict=True):
        row = answer.found.nearest.indices[query, rank]
        candidate = int(answer.found.candidate_ids[row])
        score = float(answer.found.nearest.scores[query, rank])
        before = stored.get((int(answer.found.query_ids[query]), rank))
        if before is None or before[0] != candidate or abs(before[1] - score) > SAME_SCORE:
            _refuse(source, f"rank {rank + 1} of query {query + 1} is another one now")
        n_same += 1
    if n_same != len(stored):
        _refuse(source, f"{len(stored) - n_same:,} of its proposals are not found again")


def _refuse(source: PoolSource, what: str) -> NoReturn:
    raise JobError(
        f"{source.spec}: {what}, so a greater depth would not extend what was judged. The "
        "catalog, the weights or a library has changed since. Its first proposals stay as they "
        "are: withdraw the greater depth. To use it as it is now, make a new pool."
    )


def _proposed(answer: Answer) -> tuple[Ints, Ints]:
    """Return query number and rank of every proposal."""
    queries, ranks = np.nonzero(answer.found.nearest.indices >= 0)
    return queries, ranks


def _copy_proposals(source: PoolSource, answer: Answer, *, from_rank: int) -> int:
    found, (queries, ranks) = answer.found, _proposed(answer)
    queries, ranks = queries[ranks >= from_rank], ranks[ranks >= from_rank]
    rows = zip(
        repeat(source.pool_id, len(queries)),
        repeat(source.pk, len(queries)),
        found.query_ids[queries].tolist(),
        found.candidate_ids[found.nearest.indices[queries, ranks]].tolist(),
        ranks.tolist(),
        found.nearest.scores[queries, ranks].tolist(),
        strict=True,
    )
    columns = ("pool_id", "source_id", "query_id", "candidate_id", "rank", "score")
    copy_rows(Proposal, columns, rows)
    return len(queries)
