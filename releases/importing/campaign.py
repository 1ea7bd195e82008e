"""A campaign of a release again: its judges, pairs, guidelines, judgements and rulings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from accounts.models import Role, User
from annotation.models import (
    Adjudication,
    AskingOrder,
    Campaign,
    Guideline,
    Judgement,
    Question,
    QuestionKind,
)
from annotation.notions import AskedNotion
from annotation.services import create_campaign, exclude_answers, open_campaign
from annotation.services.exclusions import MAX_AT_ONCE
from annotation.services.imports import ImportedJudgement, import_judgements
from evaluation.models import Sample, SampledPair
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from releases.importing.images import ImageIds

Judges = dict[str, User]


def make_judges(folder: Folder, slug: str) -> Judges:
    """Make an account for each pseudonym that nobody can sign in to."""
    simulated = {entry["slug"] for entry in folder.info["campaigns"] if entry["is_simulated"]}
    seats = set(folder.rows("judgements", "annotator", "campaign"))
    programs = {name for name, campaign in seats if campaign in simulated}
    names = {name for name, _ in seats}
    if folder.info.get("template_sets"):
        names |= {name for (name,) in folder.rows("template_votes", "annotator")}
    return {
        name: make_account(f"{slug}-{name}", is_simulated=name in programs)
        for name in sorted(names) or ["a01"]
    }


def make_account(name: str, *, is_simulated: bool = False) -> User:
    """Make an account that nobody can sign in to.

    Raises:
        ReleaseError: there is one of that name.
    """
    username = name[:150]
    if User.objects.filter(username=username).exists():
        raise ReleaseError(f"There is an account “{username}” already; choose another slug.")
    user = User(username=username, role=Role.ANNOTATOR, is_active=False, is_simulated=is_simulated)
    user.set_unusable_password()
    user.save()
    return user


def make_campaign(
    folder: Folder, entry: dict[str, Any], slug: str, images: ImageIds, judges: Judges
) -> Campaign:
    """Open a campaign with the pairs, rules and guidelines of one of a release.

    Its panel are those who judged it, or everybody where nobody did.
    """
    seats = folder.rows("judgements", "annotator", "campaign")
    names = {name for name, campaign in seats if campaign == entry["slug"]}
    panel = [user for name, user in judges.items() if name in names] or list(judges.values())
    pairs = [images.pair(row) for row in _rows(folder, "pairs", entry)]
    guidelines = [g for g in folder.json("guidelines.json") if g["campaign"] == entry["slug"]]
    campaign = create_campaign(
        name=entry["name"],
        slug=slug,
        pairs=pairs,
        panel=panel,
        scale=folder.scale,
        tie_rule=entry["tie_rule"],
        serving=entry["serving"],
        k=min(entry["k"], len(panel)),
        seed=entry["seed"],
        guidelines=guidelines[0]["text"] if guidelines else "",
        notion=_notion(entry),
    )
    for later in guidelines[1:]:
        Guideline.objects.create(campaign=campaign, version=later["version"], text=later["text"])
    for one in guidelines:
        said = {name: one[name] for name in ("language", "translations") if name in one}
        campaign.guidelines.filter(version=one["version"]).update(**said)
    campaign.guideline_version = entry["guideline_version"]
    if entry.get("asking_order") == AskingOrder.PHASES:
        campaign.asking_order = AskingOrder.PHASES
    campaign.save(update_fields=["guideline_version", "asking_order"])
    campaign = open_campaign(campaign=campaign)
    _store_sample(folder, entry, campaign, images)
    return campaign


def _notion(entry: dict[str, Any]) -> AskedNotion:
    """Return what similar meant; the learned model is that of the site that released it."""
    told = entry.get("notion", {})
    return AskedNotion(told.get("name", ""), told.get("model", ""), tuple(told.get("prompts", ())))


def _rows(folder: Folder, table: str, entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that are about a campaign."""
    return [row for row in folder.table(table).to_pylist() if row["campaign"] == entry["slug"]]


def _store_sample(
    folder: Folder, entry: dict[str, Any], campaign: Campaign, images: ImageIds
) -> None:
    """Keep which pairs were drawn below the pool, and with which chance."""
    drawn = next((s for s in folder.info["samples"] if s["campaign"] == entry["slug"]), None)
    if drawn is None:
        return
    kept = ("aim", "seed", "sources", "n_pool_pairs", "strata")
    sample = Sample.objects.create(campaign=campaign, **{name: drawn[name] for name in kept})
    place = {stratum["name"]: at for at, stratum in enumerate(drawn["strata"])}
    rows = [row for row in _rows(folder, "pairs", entry) if row["stratum"] in place]
    SampledPair.objects.bulk_create(
        SampledPair(
            sample=sample,
            query_id=query,
            candidate_id=candidate,
            stratum=place[row["stratum"]],
            inclusion=row["inclusion"],
        )
        for row, (query, candidate) in zip(rows, map(images.pair, rows), strict=True)
    )


def store_judgements(
    folder: Folder, entry: dict[str, Any], campaign: Campaign, images: ImageIds, judges: Judges
) -> int:
    """Store the judgements as they were given; those that did not count then do not here."""
    rows = sorted(_rows(folder, "judgements", entry), key=lambda row: not row["is_counted"])
    judgements = [
        ImportedJudgement(
            *images.pair(row),
            annotator_id=judges[row["annotator"]].pk,
            answer=_code(folder, row),
            reason=row["reason"],
            decided_at=datetime.fromisoformat(row["decided_at"]),
            visible_ms=row["visible_ms"],
            guideline_version=row["guideline_version"],
        )
        for row in rows
    ]
    if not judgements:
        return 0
    n_imported = import_judgements(campaign=campaign, rows=judgements).n_imported
    pairs = {
        (QuestionKind.PAIR.value, *images.pair(row), judges[row["annotator"]].pk)
        for row in rows
        if not row["is_counted"]
    }
    exclude_uncounted(campaign, pairs, f"Not counted in {folder.info['name']}")
    return n_imported


def exclude_uncounted(
    campaign: Campaign, uncounted: set[tuple[str, int, int, int]], reason: str
) -> None:
    """Exclude the votes that count here and did not where they come from.

    With k of n a surplus vote takes an excluded one's place, and may be such a vote itself.

    Args:
        campaign: with all its judgements.
        uncounted: kind of the question, query and candidate (image ids), and user id of the judge.
        reason: kept with each.
    """
    held = Judgement.objects.filter(question__campaign=campaign, is_counted=True).order_by("pk")
    columns = (
        *("event__uuid", "question__kind", "question__query_id", "question__candidate_id"),
        "member__annotator_id",
    )
    while events := [
        event for event, *key in held.values_list(*columns) if tuple(key) in uncounted
    ]:
        for start in range(0, len(events), MAX_AT_ONCE):
            part = events[start : start + MAX_AT_ONCE]
            exclude_answers(campaign=campaign, events=part, reason=reason, by=None)


def _code(folder: Folder, row: dict[str, Any]) -> str:
    """Return an answer as campaigns store it, with its grade."""
    grade = row.get("grade")
    return row["answer"] if grade is None or folder.scale is None else folder.scale.answer(grade)


def store_rulings(folder: Folder, campaigns: list[Campaign], images: ImageIds) -> None:
    """Store the rulings on pairs of all campaigns of a release."""
    questions = Question.objects.filter(campaign__in=campaigns, kind="pair")
    of_pair = {
        (query, candidate): pk
        for pk, query, candidate in questions.values_list("pk", "query_id", "candidate_id")
    }
    reason = f"Imported with {folder.info['name']} {folder.info['version']}"
    Adjudication.objects.bulk_create(
        Adjudication(
            question_id=of_pair[images.pair(row)], answer=_code(folder, row), reason=reason
        )
        for row in folder.table("rulings").to_pylist()
    )
