"""The pairs that releases tell of, by content, and the campaigns that ask them.

A pair is the two pictures' SHA-256 in either order, as 64 bits of their MD5: the same pair of
another pool, catalog or campaign is found by an index. Which campaign asks how many pairs of which
release is counted when a release is listed and when a campaign is opened or gets pairs, so that a
page asks one indexed question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db import connection, transaction

from annotation.models import Campaign
from jobs.snapshot import Snapshot
from releases.models import Release

_LOCK = 0x10_0CA1F  # PostgreSQL advisory lock: a release and a campaign see each other
PAIR = """('x' || left(md5(least(a.sha256 collate "C", b.sha256 collate "C")
    || greatest(a.sha256 collate "C", b.sha256 collate "C")), 16))::bit(64)::bigint"""
STORE = f"""
insert into releases_releasedpair (release_id, pair, shows_label, hides_label)
select %(release)s, pair, bool_or(is_judged and not is_hidden), bool_or(is_judged and is_hidden)
from (
    select {PAIR} as pair, a.sha256 = any(%(hidden)s) as is_hidden,
           exists (select from annotation_judgement j where j.question_id = q.id) as is_judged
    from annotation_question q
    join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
    where q.campaign_id = any(%(campaigns)s) and q.kind = 'pair'
    union all
    select {PAIR}, false, false
    from pooling_proposal o
    join pooling_poolcampaign l on l.pool_id = o.pool_id
    join catalog_image a on a.id = o.query_id join catalog_image b on b.id = o.candidate_id
    where l.campaign_id = any(%(campaigns)s)
) told group by pair
"""  # noqa: S608  (constants)
ASKED = f"""
from annotation_question q join annotation_campaign c on c.id = q.campaign_id
join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
join releases_releasedpair p on p.pair = {PAIR}
"""
COUNT = f"""
insert into releases_askedrelease (release_id, campaign_id, n_pairs)
select p.release_id, q.campaign_id, count(distinct p.pair) {ASKED}
where c.state in ('open', 'paused') and q.kind <> 'example' and {{which}}
group by p.release_id, q.campaign_id
on conflict (release_id, campaign_id) do update set n_pairs = excluded.n_pairs
"""
HIDE = f"""
update annotation_campaign set keeps_labels_back = true where not keeps_labels_back and id in (
    select q.campaign_id {ASKED} where p.hides_label and q.kind = 'pair' and {{which}}
)
"""  # noqa: S608
KNOWN = f"""
select a.sha256, r.slug, r.title, concat_ws('.', r.major, r.minor, r.patch) as version,
       count(distinct p.pair) filter (where p.shows_label) as n_shown,
       count(distinct p.pair) filter (where p.hides_label) as n_hidden
{ASKED} join releases_release r on r.id = p.release_id
where q.campaign_id = any(%s) and q.kind = 'pair' and (p.shows_label or p.hides_label)
group by a.sha256, r.id order by r.slug, r.major, r.minor, r.patch
"""


class KnownQuery(NamedTuple):
    """A query of campaigns, and of how many of its pairs a release has shown or hidden labels."""

    sha256: str
    slug: str
    title: str
    version: str
    n_shown: int
    n_hidden: int


@transaction.atomic
def note_release(*, release: Release, hidden: Sequence[str]) -> None:
    """Note of which pairs a new release tells, who asks them now, and whose labels must hide.

    Args:
        release: just listed, with its campaigns.
        hidden: SHA-256 of the queries whose labels it keeps back.
    """
    campaigns = list(release.campaigns.values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(
            STORE, {"release": release.pk, "campaigns": campaigns, "hidden": list(hidden)}
        )
        cursor.execute(COUNT.format(which="p.release_id = %s"), [release.pk])
        cursor.execute(HIDE.format(which="p.release_id = %s"), [release.pk])


@transaction.atomic
def note_campaign(*, campaign: Campaign) -> None:
    """Count the pairs of releases that an open campaign asks; hide its labels if any hides them."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
        cursor.execute(COUNT.format(which="q.campaign_id = %s"), [campaign.pk])
        cursor.execute(HIDE.format(which="q.campaign_id = %s"), [campaign.pk])
        campaign.labels_hidden = campaign.labels_hidden or cursor.rowcount > 0


def known_queries(view: Snapshot, campaigns: Sequence[int]) -> list[KnownQuery]:
    """Return the queries of campaigns of which releases have labels, of any pair they ask."""
    return view.rows(KnownQuery, KNOWN, [list(campaigns)])
