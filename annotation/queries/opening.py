"""What an admin confirms before a campaign opens: every setting, and what is worth a thought."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from annotation.models import Campaign, QuestionKind, Serving, TieRule
from annotation.queries.campaigns import gold_counts
from annotation.queries.guidelines import guideline_in_force
from annotation.services.settings import IN_DRAFT


@dataclass(frozen=True)
class Setting:
    """One line of the summary.

    Attributes:
        is_fixed: it cannot be changed once the campaign was opened.
    """

    name: str
    value: str
    means: str
    is_fixed: bool


def opening_summary(campaign: Campaign) -> list[Setting]:
    """Return every setting of a draft in words."""
    noun, nouns = campaign.kind.noun, campaign.kind.nouns
    n_judges = campaign.panel.filter(is_active=True).count()
    is_leased = campaign.serving == Serving.K_OF_N
    n_votes = campaign.k if is_leased else n_judges
    lines = [
        ("questions", nouns.capitalize(), f"{campaign.n_questions:,}",
         f"{campaign.n_questions * n_votes:,} answers in all, checks not counted."),
        ("serving", "Who judges what",
         f"{n_votes} of {n_judges} judges" if is_leased else f"all {n_judges} judges",
         f"Each {noun} gets so many votes."),
        ("asking_order", "Order", campaign.get_asking_order_display(),
         "Drawn for each judge from the seed."),
        ("closes_settled", "Close early", _yes(campaign.closes_settled),
         f"A {noun} is not asked any more once missing votes cannot change its outcome."),
        ("repeat_percent", "Silent repeats", f"{campaign.repeat_percent} %",
         "Asked a second time, to see how steady a judge is."),
        ("seed", "Seed", str(campaign.seed), "Fixes orders and samples."),
    ]  # fmt: skip
    if is_leased:
        lines.append(
            ("lease_minutes", f"Reserve a {noun} for", f"{campaign.lease_minutes} minutes",
             "Then it is offered to others.")
        )  # fmt: skip
    if scale := campaign.kind.scale:
        lines += [
            ("grades", "Grades", ", ".join(scale.words), "From the least similar."),
            ("similar_from", "Similar from", scale.words[scale.similar_from],
             "This grade and those above it count as similar."),
        ]  # fmt: skip
    if not campaign.kind.is_choice:
        lines += [
            ("mirror_percent", "Mirrored pairs", f"{campaign.mirror_percent} %",
             "Asked again with query and candidate swapped."),
            ("tie_rule", "A tie", campaign.get_tie_rule_display(),
             "Where as many say similar as different."),
        ]  # fmt: skip
    counts = gold_counts(campaign)
    for kind, label, means in (
        (QuestionKind.TRAINING, "Training", "Come first, each with the reason."),
        (QuestionKind.QUALIFICATION, "Qualification",
         f"{campaign.pass_percent} % must be right to go on."),
        (QuestionKind.GOLD, "Silent checks", "Among the others; more can be added later."),
    ):  # fmt: skip
        lines.append((kind.value, label, f"{counts[kind]} {nouns}", means))
    always = {"lease_minutes", "pass_percent", "gold"}
    if not campaign.closes_settled:
        always.add("tie_rule")
    fixed = {*IN_DRAFT, "asking_order", "training", "qualification", "tie_rule"} - always
    return [Setting(name, value, means, key in fixed) for key, name, value, means in lines]


def opening_warnings(campaign: Campaign) -> list[str]:
    """Return what speaks against opening a draft as it is."""
    n_judges = campaign.panel.filter(is_active=True).count()
    is_leased = campaign.serving == Serving.K_OF_N
    n_votes = campaign.k if is_leased else n_judges
    counts = gold_counts(campaign)
    checks = [
        (not guideline_in_force(campaign.pk).text.strip(),
         "There are no guidelines: judges are told nothing before they begin."),
        (n_votes % 2 == 0 and not campaign.kind.is_choice,
         f"{n_votes} votes can tie; an odd number cannot."),
        (campaign.closes_settled and n_votes == 2 and campaign.tie_rule == TieRule.NEGATIVE
         and not campaign.kind.is_choice,
         "Pairs close early, two votes are wanted and a tie is “different”: one “different” "
         "settles a pair."),
        (not counts[QuestionKind.GOLD] and not campaign.asks_again,
         "Nothing checks the judges: no silent checks and no repeats."),
        (counts[QuestionKind.QUALIFICATION] > 0 and not counts[QuestionKind.TRAINING],
         "Judges must qualify and are trained by nothing."),
    ]  # fmt: skip
    return [words for holds, words in checks if holds]


def opening_digest(campaign: Campaign) -> str:
    """Return a short name of all that is confirmed, so that a change in between is noticed."""
    shown = [
        [[one.name, one.value] for one in opening_summary(campaign)],
        sorted(campaign.panel.filter(is_active=True).values_list("annotator_id", flat=True)),
        campaign.name, guideline_in_force(campaign.pk).text, campaign.pass_percent,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
