"""Keep what was counted of a campaign until anything of it changes.

Which state a campaign is in is read from the rows that every change of what was said has to write,
each by the transaction that wrote it (`xmin`): no counter is kept up, so none can be forgotten.

- An answer, whichever way it comes, is stored together with the counters of its judge.
- An exclusion, a ruling and gold are rows of their own; the settings stand with the campaign.

What other code has counted is counted anew: the name of what is kept holds a hash of the source.

What expires by the clock alone, such as a lease, is no part of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import TypeVar, cast

from django.core.cache import cache
from django.db import connection
from redis import RedisError

from annotation.models import Campaign
from annotation.queries.prepared import rows_of
from lookalike.core.source import source_digest

SECONDS = 30 * 86_400
COUNTED_BY = (  # whatever what is kept depends on; the kinds of task are in several apps
    *("annotation", "conditional", "lookalike.agreement", "lookalike.core", "lookalike.stats"),
)
T = TypeVar("T")
# A sum of hashes knows no order, and changes with every row that comes, goes or is written anew.
WRITTEN = "sum(hashtextextended({0}.id || ' ' || {0}.xmin, 0)::numeric)"
STATES = f"""
with wanted as (select id, xmin from annotation_campaign where id = any(%s::bigint[])),
members as (
    select m.campaign_id as id, {WRITTEN.format("m")} as written
    from annotation_panelmember m join wanted w on w.id = m.campaign_id group by 1
), excluded as (
    select m.campaign_id as id, {WRITTEN.format("x")} as written
    from annotation_exclusion x join annotation_judgementevent v on v.id = x.event_id
    join annotation_panelmember m on m.id = v.member_id join wanted w on w.id = m.campaign_id
    group by 1
), ruled as (
    select q.campaign_id as id, {WRITTEN.format("a")} as written
    from annotation_adjudication a join annotation_question q on q.id = a.question_id
    join wanted w on w.id = q.campaign_id group by 1
), known as (
    select q.campaign_id as id, {WRITTEN.format("g")} as written
    from annotation_gold g join annotation_question q on q.id = g.question_id
    join wanted w on w.id = q.campaign_id group by 1
)
select w.id, concat_ws(' ', pg_postmaster_start_time(), w.xmin, members.written,
                       'x', excluded.written, 'a', ruled.written, 'g', known.written)
from wanted w left join members using (id) left join excluded using (id)
left join ruled using (id) left join known using (id)
"""  # noqa: S608  (constants)


def kept(campaign: Campaign, what: str, make: Callable[[], T]) -> T:
    """Return what `make` counted of a campaign as it is now, or count it."""
    return kept_of_campaigns([campaign], what, lambda _: make())[campaign.pk]


def kept_of_campaigns(
    campaigns: Iterable[Campaign], what: str, make: Callable[[Campaign], T]
) -> dict[int, T]:
    """Return the same of several campaigns by id; those that are known take one look at all."""
    by_id = {campaign.pk: campaign for campaign in campaigns}
    return kept_of_each(by_id, what, lambda ids: {pk: make(by_id[pk]) for pk in ids})


def kept_of_each(
    campaign_ids: Collection[int], what: str, make: Callable[[list[int]], dict[int, T]]
) -> dict[int, T]:
    """Return what was counted of campaigns as they are now, by id.

    Inside a transaction, which may see what nobody else ever will, everything is counted anew;
    so it is where no cache answers.

    Args:
        campaign_ids: of which.
        what: the name of it, with all that it depends on beside the campaign.
        make: counts it for those campaigns of which it is not known; it has to be picklable.
    """
    wanted = list(campaign_ids)
    if connection.in_atomic_block or not wanted:
        return make(wanted)
    keys = {pk: _key(what, pk, state) for pk, state in rows_of(STATES, wanted)}
    try:
        stored = cache.get_many(keys.values())
    except RedisError:
        return make(wanted)
    found = {pk: cast(T, stored[key]) for pk, key in keys.items() if key in stored}
    missing = [pk for pk in wanted if pk not in found]
    if missing:
        made = make(missing)
        with suppress(RedisError):
            cache.set_many({keys[pk]: value for pk, value in made.items()}, SECONDS)
        found |= made
    return found


def _key(what: str, campaign_id: int, state: str) -> str:
    text = "\n".join([source_digest(*COUNTED_BY), what, str(campaign_id), state])
    return "campaign:" + hashlib.sha256(text.encode()).hexdigest()
