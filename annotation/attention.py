"""What campaigns ask of an admin, as the overview says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

from django.core.cache import cache
from django.urls import reverse
from redis import RedisError

from accounts.attention import Attention, Urgency
from annotation.models import Campaign, CampaignState, Guideline, PanelMember, Stage
from annotation.queries.comments import open_comments
from annotation.queries.numbers import campaign_numbers
from annotation.queries.reviewing.adjudication import contested_by_campaign
from annotation.queries.reviewing.judge_summaries import summaries_by_campaign

SECONDS = 120  # that a look at all answers of a campaign is kept: the overview asks all the time
T = TypeVar("T")
AT_WORK = (CampaignState.OPEN, CampaignState.PAUSED)


def attention() -> Iterator[Attention]:
    """Yield what is the matter with campaigns that are at work, and drafts."""
    campaigns = list(Campaign.objects.filter(state__in=AT_WORK))
    yield from _questions()
    lines = [
        _flagged(campaigns),
        _not_qualified(campaigns),
        _contested(campaigns),
        _without_guidelines(campaigns),
    ]
    for campaign in campaigns:
        yield from (found[campaign.pk] for found in lines if campaign.pk in found)
    yield from _complete([one for one in campaigns if one.is_open])
    for draft in Campaign.objects.filter(state=CampaignState.DRAFT):
        yield _line(draft, "Draft", "No judge sees it before it is opened.", "campaign",
                    Urgency.HINT)  # fmt: skip


def _lately(
    name: str, campaigns: Sequence[Campaign], make: Callable[[Sequence[Campaign]], dict[int, T]]
) -> dict[int, T]:
    """Return what `make` said of campaigns lately, or says now, by id; without a cache too."""
    keys = {campaign.pk: f"attention:{name}:{campaign.uid}" for campaign in campaigns}
    try:
        stored = cache.get_many(keys.values())
        fresh = make([one for one in campaigns if keys[one.pk] not in stored])
        cache.set_many({keys[pk]: value for pk, value in fresh.items()}, SECONDS)
    except RedisError:
        return make(campaigns)
    return fresh | {pk: cast(T, stored[key]) for pk, key in keys.items() if key in stored}


def _line(
    campaign: Campaign, kind: str, text: str, page: str, urgency: Urgency = Urgency.SOON
) -> Attention:
    url = reverse(f"annotation:{page}", args=[campaign.slug])
    return Attention(kind, campaign.name, text, url, urgency)


def _questions() -> Iterator[Attention]:
    """Yield a line for each campaign in which judges wait for a reply; never what they ask."""
    waiting: dict[int, list[tuple[str, int]]] = {}
    for campaign_id, judge, n in open_comments():
        waiting.setdefault(campaign_id, []).append((judge, n))
    for pk, campaign in Campaign.objects.in_bulk(waiting).items():
        n = sum(n for _, n in waiting[pk])
        names = ", ".join(judge for judge, _ in waiting[pk])
        text = f"{n:,} from {names}, who go{'es' if len(waiting[pk]) == 1 else ''} on judging."
        yield _line(campaign, "Questions", text, "questions", Urgency.NOW)


def _flagged(campaigns: Sequence[Campaign]) -> dict[int, Attention]:
    """Return a line for the judges with signs of careless work whom nobody has paused."""

    def signs(of: Sequence[Campaign]) -> dict[int, dict[int, str]]:
        return {
            pk: {
                member: ", ".join(flag.title.lower() for flag in summary.flags)
                for member, summary in judges.items()
                if summary.flags
            }
            for pk, judges in summaries_by_campaign(of).items()
        }

    found = _lately("flags", campaigns, signs)
    of_member = {member: words for words_of in found.values() for member, words in words_of.items()}
    members = PanelMember.objects.filter(pk__in=of_member, is_active=True, is_paused=False)
    names: dict[int, list[str]] = {}
    for member in members.select_related("annotator").order_by("number"):
        words = f"{member.annotator.username} ({of_member[member.pk]})"
        names.setdefault(member.campaign_id, []).append(words)
    return {
        campaign.pk: _line(campaign, "Careless work?", f"{'; '.join(names[campaign.pk])}.",
                           "quality", Urgency.NOW)
        for campaign in campaigns if campaign.pk in names
    }  # fmt: skip


def _not_qualified(campaigns: Sequence[Campaign]) -> dict[int, Attention]:
    waiting = PanelMember.objects.filter(
        campaign__in=campaigns, stage=Stage.NOT_QUALIFIED, is_active=True
    )
    names: dict[int, list[str]] = {}
    for pk, name in waiting.values_list("campaign", "annotator__username"):
        names.setdefault(pk, []).append(name)
    return {
        campaign.pk: _line(campaign, "Not qualified",
                           f"{', '.join(names[campaign.pk])}: admit or remove.", "panel")
        for campaign in campaigns if campaign.pk in names
    }  # fmt: skip


def _contested(campaigns: Sequence[Campaign]) -> dict[int, Attention]:
    def count(of: Sequence[Campaign]) -> dict[int, int]:
        return {pk: len(ids) for pk, ids in contested_by_campaign(of).items()}

    counts = _lately("contested", campaigns, count)

    def text(campaign: Campaign) -> str:
        n = counts[campaign.pk]
        noun = campaign.kind.nouns if n > 1 else campaign.kind.noun
        return f"{n:,} {noun} on which the panel disagrees or could not tell."

    return {
        campaign.pk: _line(campaign, "To adjudicate", text(campaign), "adjudication")
        for campaign in campaigns
        if counts[campaign.pk]
    }


def _without_guidelines(campaigns: Sequence[Campaign]) -> dict[int, Attention]:
    newest = Guideline.objects.filter(campaign__in=campaigns).order_by("campaign", "-version")
    texts = dict(newest.distinct("campaign").values_list("campaign", "text"))
    text = "Judges are told nothing before they begin."
    return {
        campaign.pk: _line(campaign, "No guidelines", text, "edit_guidelines")
        for campaign in campaigns
        if not texts[campaign.pk].strip()
    }


def _complete(campaigns: Iterable[Campaign]) -> Iterator[Attention]:
    for numbers in campaign_numbers(campaigns):
        if numbers.n_total and numbers.n_done >= numbers.n_total:
            next_step = "" if numbers.campaign.kind.is_choice else ", or top up its pool"
            text = f"All {numbers.n_total:,} {numbers.unit} are in: close it{next_step}."
            yield _line(numbers.campaign, "Complete", text, "campaign")
