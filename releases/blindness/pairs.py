"""The pairs whose labels releases show or hide, by content.

A pair is the two pictures' SHA-256 in either order, as 64 bits of their MD5, so that an index
finds the same pair in another pool, catalog or campaign. Which releases wait for campaigns is
decided in `releases.blindness.images`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import F, Q

from annotation.bulk import copy_rows, refresh_statistics
from annotation.models import Campaign, QuestionKind
from annotation.queries.asked_pairs import asked_pairs, voted_pairs
from annotation.services import hide_labels
from jobs.work.snapshot import Snapshot
from pooling.pools.queries import proposed_pairs
from releases.models import Release, ReleasedPair

MANY = 1000  # pairs, after which the planner is told
_LOCK = 0x10_0CA1F  # PostgreSQL advisory lock: a release and a campaign see each other
KNOWN = """
select p.pair, r.slug, r.title, concat_ws('.', r.major, r.minor, r.patch) as version,
       p.shows_label, p.hides_label
from releases_releasedpair p join releases_release r on r.id = p.release_id
where p.pair = any(%s) and (p.shows_label or p.hides_label)
order by r.slug, r.major, r.minor, r.patch
"""


class KnownQuery(NamedTuple):
    """A query of campaigns, and of how many of its pairs a release has shown or hidden labels."""

    sha256: str
    slug: str
    title: str
    version: str
    n_shown: int
    n_hidden: int


class _KnownPair(NamedTuple):
    pair: int
    slug: str
    title: str
    version: str
    shows_label: bool
    hides_label: bool


class _AskedPair(NamedTuple):
    sha256: str
    content_pair: int


@transaction.atomic
def note_release(*, release: Release, hidden: Sequence[str]) -> None:
    """Record which pairs a new release covers, and hide the labels that it hides everywhere.

    Args:
        release: just listed, with its campaigns.
        hidden: SHA-256 of the queries whose labels it keeps back.
    """
    _lock()
    campaigns = release.campaigns.all()
    voted = voted_pairs(campaigns)
    is_hidden = Q(query__sha256__in=hidden)
    told = _pairs(voted) | _pairs(proposed_pairs(campaigns))
    judged = voted.filter(is_judged=True)
    shown, kept_back = _pairs(judged.exclude(is_hidden)), _pairs(judged.filter(is_hidden))
    copy_rows(
        ReleasedPair,
        ("release_id", "pair", "shows_label", "hides_label"),
        [(release.pk, pair, pair in shown, pair in kept_back) for pair in sorted(told)],
    )
    if len(told) >= MANY:  # else the planner compares each of them with each pair that is asked
        refresh_statistics(ReleasedPair)
    if kept_back:
        hiding = release.pairs.filter(hides_label=True).values("pair")
        asking = asked_pairs().filter(kind=QuestionKind.PAIR, content_pair__in=hiding)
        hide_labels(campaigns=Campaign.objects.filter(pk__in=asking.values("campaign")))


@transaction.atomic
def note_campaign(*, campaign: Campaign) -> None:
    """Hide the labels of an open campaign if a release hides the label of one of its pairs."""
    _lock()
    voted = voted_pairs([campaign]).values("content_pair")
    if ReleasedPair.objects.filter(hides_label=True, pair__in=voted).exists():
        hide_labels(campaigns=Campaign.objects.filter(pk=campaign.pk))
        campaign.labels_hidden = True


def known_queries(view: Snapshot, campaigns: Sequence[int]) -> list[KnownQuery]:
    """Return the queries of campaigns of which releases have labels, of any pair they ask."""
    voted = asked_pairs().filter(campaign__in=campaigns, kind=QuestionKind.PAIR)
    columns = voted.annotate(sha256=F("query__sha256")).values_list("sha256", "content_pair")
    queries_of: dict[int, set[str]] = defaultdict(set)
    for asked in view.rows(_AskedPair, *columns.query.sql_with_params()):
        queries_of[asked.content_pair].add(asked.sha256)
    counts: dict[tuple[str, str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for known in view.rows(_KnownPair, KNOWN, [list(queries_of)]):
        for query in queries_of[known.pair]:
            count = counts[query, known.slug, known.title, known.version]
            count[0] += known.shows_label
            count[1] += known.hides_label
    return [KnownQuery(*key, *count) for key, count in counts.items()]


def _lock() -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK])


def _pairs(rows: Any) -> set[int]:
    return set(rows.values_list("content_pair", flat=True).distinct())
