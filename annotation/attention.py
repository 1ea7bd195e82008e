"""What campaigns ask of an admin, as the overview says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from django.core.cache import cache
from django.urls import reverse
from redis import RedisError

from accounts.attention import Attention, Urgency
from annotation.models import Campaign, CampaignState, PanelMember, Stage
from annotation.queries.comments import open_comments
from annotation.queries.guidelines import guideline_in_force
from annotation.queries.numbers import campaign_numbers
from annotation.queries.reviewing.adjudication import contested
from annotation.queries.reviewing.careless import flagged_judges

SECONDS = 120  # that a look at all answers of a campaign is kept
T = TypeVar("T")
AT_WORK = (CampaignState.OPEN, CampaignState.PAUSED)


def attention() -> Iterator[Attention]:
    """Yield what is the matter with campaigns that are at work, and drafts."""
    campaigns = list(Campaign.objects.filter(state__in=AT_WORK))
    yield from _questions()
    for campaign in campaigns:
        yield from _flagged(campaign)
        yield from _not_qualified(campaign)
        yield from _contested(campaign)
        if not guideline_in_force(campaign.pk).text.strip():
            yield _line(campaign, "No guidelines", "Judges are told nothing before they begin.",
                        "edit_guidelines")  # fmt: skip
    yield from _complete([one for one in campaigns if one.is_open])
    for draft in Campaign.objects.filter(state=CampaignState.DRAFT):
        yield _line(draft, "Draft", "No judge sees it before it is opened.", "campaign",
                    Urgency.HINT)  # fmt: skip


def _kept(name: str, make: Callable[[], T]) -> T:
    """Return what `make` returned lately, or make it now; also where no cache answers."""
    try:
        return cast(T, cache.get_or_set(f"attention:{name}", make, SECONDS))
    except RedisError:
        return make()


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


def _flagged(campaign: Campaign) -> Iterator[Attention]:
    """Yield a line for the judges with signs of careless work whom nobody has paused."""

    def signs() -> dict[int, str]:
        return {
            judge.member.pk: ", ".join(flag.title.lower() for flag in judge.flags)
            for judge in flagged_judges(campaign)
        }

    found = _kept(f"flags:{campaign.uid}", signs)
    members = PanelMember.objects.filter(pk__in=found, is_active=True, is_paused=False)
    names = [
        f"{member.annotator.username} ({found[member.pk]})"
        for member in members.select_related("annotator").order_by("number")
    ]
    if names:
        yield _line(campaign, "Careless work?", f"{'; '.join(names)}.", "quality", Urgency.NOW)


def _not_qualified(campaign: Campaign) -> Iterator[Attention]:
    waiting = campaign.panel.filter(stage=Stage.NOT_QUALIFIED, is_active=True)
    names = list(waiting.values_list("annotator__username", flat=True))
    if names:
        yield _line(campaign, "Not qualified", f"{', '.join(names)}: admit or remove.", "panel")


def _contested(campaign: Campaign) -> Iterator[Attention]:
    def count() -> int:
        return contested(campaign).count()

    n = _kept(f"contested:{campaign.uid}", count)
    if n:
        noun = campaign.kind.nouns if n > 1 else campaign.kind.noun
        text = f"{n:,} {noun} on which the panel disagrees or could not tell."
        yield _line(campaign, "To adjudicate", text, "adjudication")


def _complete(campaigns: Iterable[Campaign]) -> Iterator[Attention]:
    for numbers in campaign_numbers(campaigns):
        if numbers.n_total and numbers.n_done >= numbers.n_total:
            next_step = "" if numbers.campaign.kind.is_choice else ", or top up its pool"
            text = f"All {numbers.n_total:,} {numbers.unit} are in: close it{next_step}."
            yield _line(numbers.campaign, "Complete", text, "campaign")
