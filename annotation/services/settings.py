"""Change a campaign's rules and panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from accounts.models import User
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import Campaign, CampaignState, PanelMember, Serving, StateChange
from annotation.notions import asked_notion
from annotation.services.counted_votes import lock_panel, recount_pairs
from annotation.setting_names import label_of, value_in_words
from annotation.task_kinds import PAIR, TaskKind
from audit.actions import Action
from audit.services import record
from lookalike.agreement.grades import Scale
from lookalike.core.errors import Refused

ALWAYS = ("name", "tie_rule", "lease_minutes", "pass_percent")
OF_NOTION = ("notion", "notion_model", "notion_prompts")  # one may change the others
MOST_AGAIN = 50  # percent of the pairs that can be asked again
IN_DRAFT = (
    *("serving", "k", "closes_settled", "repeat_percent", "mirror_percent", "seed"),
    *("notion", "notion_model", "grades", "similar_from"),
)


@transaction.atomic
def change_settings(
    *,
    campaign: Campaign,
    by: User | None,
    seen: Mapping[str, object] | None = None,
    **changes: Any,
) -> Campaign:
    """Set rules and keep a note of what was changed.

    What decides who is asked what is fixed once the queues are drawn.

    Args:
        campaign: which.
        by: who changes it.
        seen: what the settings were when `by` looked at them; None of a campaign that is being
            made, whose first settings are no change to tell of.
        changes: any of `ALWAYS`, and while it is a draft of `IN_DRAFT`.

    Raises:
        ChangedMeanwhileError: somebody else has changed one of these settings since.
        CampaignError: a setting is unknown, out of range, or fixed by now (the tie rule too where
            pairs are closed early).
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    changes = {name: value for name, value in changes.items() if getattr(campaign, name) != value}
    _check_unchanged(campaign, seen or {}, changes)
    is_draft = campaign.state == CampaignState.DRAFT
    fixed = [name for name in changes if name not in (*ALWAYS, *(IN_DRAFT if is_draft else ()))]
    if fixed:
        names = "; ".join(label_of(name, campaign.kind) for name in fixed)
        raise CampaignError(f"{names}: cannot be changed once the queues are drawn.")
    if "tie_rule" in changes and has_fixed_ties(campaign):
        raise CampaignError(
            "Tie rule: pairs are closed early by it, so it cannot be changed once the queues are "
            "drawn."
        )
    touched = {*changes, *OF_NOTION}
    before = {name: getattr(campaign, name) for name in touched}
    for name, value in changes.items():
        setattr(campaign, name, value)
    if {"grades", "similar_from"} & changes.keys():
        check_scale(campaign)
    if {"notion", "notion_model"} & changes.keys():
        _set_notion(campaign, model_is_new="notion_model" in changes)
    if wrong := wrong_numbers(campaign):
        raise CampaignError(" ".join(dict.fromkeys(wrong.values())))
    campaign.save(update_fields=touched)
    if "k" in changes or "serving" in changes:
        n_free = campaign.k if campaign.serving == Serving.K_OF_N else 0
        campaign.questions.filter(kind="pair").update(n_free=n_free)
    set_now = dict.fromkeys((*changes, *OF_NOTION))
    changed = [name for name in set_now if getattr(campaign, name) != before[name]]
    if changed and seen is not None:
        told = "; ".join(
            _change(campaign.kind, name, before[name], getattr(campaign, name)) for name in changed
        )
        StateChange.objects.create(
            campaign=campaign, before=campaign.state, after=campaign.state, changed_by=by,
            reason=f"Settings: {told}"[:500],
        )  # fmt: skip
    if changed:
        stored = {name: f"{before[name]} → {getattr(campaign, name)}" for name in changed}
        record(by, Action.SETTINGS_CHANGED, campaign, **stored)
    return campaign


def wrong_numbers(campaign: Campaign) -> dict[str, str]:
    """Return what is out of range, or does not fit what is asked, by the name of the setting."""
    noun, n_judges = campaign.kind.noun, campaign.panel.count()
    is_leased = campaign.serving == Serving.K_OF_N
    again = f"At most half of the {campaign.kind.nouns} can be asked again."
    wrong = [
        ("k", f"k = {campaign.k} judges cannot be had from a panel of {n_judges}.",
         campaign.k < 1 or (is_leased and campaign.k > n_judges)),
        ("repeat_percent", again, campaign.repeat_percent > MOST_AGAIN),
        ("mirror_percent", again, campaign.mirror_percent > MOST_AGAIN),
        ("pass_percent", f"A pass mark of {campaign.pass_percent} % cannot be reached.",
         campaign.pass_percent > 100),
        ("mirror_percent", "Mirrored pairs: only pairs can be mirrored.",
         campaign.mirror_percent > 0 and campaign.kind.is_choice),
        ("lease_minutes", f"A {noun} is reserved for at least one minute.",
         campaign.lease_minutes < 1),
    ]  # fmt: skip
    return {name: problem for name, problem, is_so in wrong if is_so}


def _change(kind: TaskKind, name: str, before: object, after: object) -> str:
    """Return in words what a setting was, and what it is now."""
    was, now = (value_in_words(name, value, kind) for value in (before, after))
    return f"{label_of(name, kind)}: {was} → {now}"


def _set_notion(campaign: Campaign, *, model_is_new: bool) -> None:
    """Let the words, the model and its prompts say one thing: without words there is no model."""
    if not (campaign.notion or model_is_new):
        campaign.notion_model = ""
    if model_is_new or not campaign.notion_model:
        try:
            asked = asked_notion(campaign.notion, campaign.notion_model)
        except Refused as problem:
            raise CampaignError(str(problem)) from None
        campaign.notion, campaign.notion_model = asked.name, asked.model
        campaign.notion_prompts = "\n".join(asked.prompts)


def check_scale(campaign: Campaign) -> None:
    """Check the grades of a campaign that is still a draft.

    Raises:
        CampaignError: they are no scale, the campaign asks about something else than pairs, or
            has known answers already, which were given on another scale.
    """
    if campaign.grades and campaign.task_kind != PAIR:
        raise CampaignError("Grades: only pairs can be graded.")
    if campaign.grades:
        try:
            Scale(tuple(campaign.grades.split("\n")), campaign.similar_from)
        except ValueError as problem:
            raise CampaignError(f"Grades: {problem}.") from None
    if n_known := campaign.questions.filter(gold__isnull=False).count():
        raise CampaignError(
            f"Grades: {n_known} pairs have a known answer on the scale as it was; remove them "
            "first."
        )


def _check_unchanged(
    campaign: Campaign, seen: Mapping[str, object], changes: Mapping[str, object]
) -> None:
    """Refuse to write over what somebody else has changed since it was seen."""
    theirs = [
        f"{_change(campaign.kind, name, seen[name], getattr(campaign, name))}, "
        f"yours: {value_in_words(name, changes[name], campaign.kind)}"
        for name in changes
        if name in seen and seen[name] != getattr(campaign, name)
    ]
    if theirs:
        last = campaign.state_changes.filter(reason__startswith="Settings: ").first()
        who = last.changed_by if last and last.changed_by else "Somebody"
        raise ChangedMeanwhileError(
            f"{who} has changed the same settings meanwhile ({'; '.join(theirs)}). Nothing is "
            "saved yet; save again to use yours."
        )


def has_fixed_ties(campaign: Campaign) -> bool:
    """Whether pairs may have been closed by the tie rule, so that another cannot hold for them."""
    return campaign.closes_settled and campaign.state != CampaignState.DRAFT


@transaction.atomic
def set_member_active(*, member: PanelMember, is_active: bool) -> None:
    """Take a judge off the panel, or put them back; their judgements stay and count.

    Raises:
        CampaignError: too few judges would be left.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=member.campaign_id)
    others = campaign.panel.filter(is_active=True).exclude(pk=member.pk).count()
    needed = campaign.k if campaign.serving == Serving.K_OF_N else 1
    if not is_active and others < needed:
        raise CampaignError(f"The panel needs at least {needed}.")
    lock_panel(campaign.pk)
    PanelMember.objects.filter(pk=member.pk).update(is_active=is_active)
    action = Action.PANEL_RESTORED if is_active else Action.PANEL_REMOVED
    record(None, action, campaign, judge=member.annotator)
    recount_pairs(campaign)


def hide_labels(*, campaigns: QuerySet[Campaign]) -> None:
    """Show the labels of some campaigns, and what follows from them, to admins alone from now."""
    campaigns.update(labels_hidden=True)


@transaction.atomic
def pause_judge(*, member: PanelMember, reason: str, by: User) -> None:
    """Give a judge nothing more and take no answer, until `resume_judge`; nothing is lost.

    What they have answered counts as before. Answers on their way wait in their browser.

    Raises:
        CampaignError: no reason, or the judge is paused already.
    """
    if not reason.strip():
        raise CampaignError("Say why: the reason is kept with the campaign.")
    _set_paused(member, True, f"Paused {member.annotator}: {reason.strip()}", by)
    record(by, Action.JUDGE_PAUSED, member.campaign, judge=member.annotator, reason=reason.strip())


@transaction.atomic
def resume_judge(*, member: PanelMember, by: User) -> None:
    """Let a paused judge go on where they were.

    Raises:
        CampaignError: the judge is not paused.
    """
    _set_paused(member, False, f"Let {member.annotator} go on", by)
    record(by, Action.JUDGE_RESUMED, member.campaign, judge=member.annotator)


def _set_paused(member: PanelMember, is_paused: bool, told: str, by: User) -> None:
    """Hold the judge's row, so that an answer comes before or after, and note the change."""
    held = PanelMember.objects.select_for_update(no_key=True).get(pk=member.pk)
    if held.is_paused == is_paused:
        raise CampaignError(
            f"{member.annotator} is {'paused already' if is_paused else 'not paused'}."
        )
    PanelMember.objects.filter(pk=member.pk).update(is_paused=is_paused)
    campaign = member.campaign
    StateChange.objects.create(
        campaign=campaign, before=campaign.state, after=campaign.state, changed_by=by,
        reason=told[:500],
    )  # fmt: skip


def note_stop(*, member_id: int) -> None:
    """Count that the page has stopped a key that a judge held."""
    PanelMember.objects.filter(pk=member_id).update(n_stops=F("n_stops") + 1)
