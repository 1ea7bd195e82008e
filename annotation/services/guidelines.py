"""Put guidelines in force, and note who has read them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence

from django.db import transaction

from accounts.models import User
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.markdown import picture_names
from annotation.models import (
    Campaign,
    CampaignState,
    Guideline,
    GuidelineReading,
    PanelMember,
)
from annotation.queries.judges import find_judge
from annotation.queries.references import catalog_names
from audit.actions import Action
from audit.services import record
from lookalike.io.image_names import UnknownImageError

MAX_GUIDELINE = 100_000  # characters


def text_digest(text: str, translations: Mapping[str, str] | None = None) -> str:
    """Return a short name of texts, by which a form says which ones it has changed."""
    whole = "\0".join(
        [text, *(f"{code}\0{other}" for code, other in sorted((translations or {}).items()))]
    )
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


@transaction.atomic
def publish_guidelines(
    *,
    campaign: Campaign,
    text: str,
    by: User | None,
    seen: str = "",
    language: str = "",
    translations: Mapping[str, str] | None = None,
) -> Guideline:
    """Put guidelines in force; every judge reads them before their next question.

    A draft has no judgements yet, so its text is simply replaced.

    Args:
        campaign: whose.
        text: markdown.
        language: of the text, by its code; "" for that of the version in force.
        translations: the same text by other codes; those of older versions never hold on, as
            they would say something else.
        by: who writes them.
        seen: the digest of the text that was changed; "" for whichever is in force.

    Raises:
        ChangedMeanwhileError: another text is in force by now.
        CampaignError: nothing was changed, the text is too long, or it shows a picture that is
            not of the campaign's catalogs.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    text = _tidy(text)
    others = {code: tidy for code, given in (translations or {}).items() if (tidy := _tidy(given))}
    latest = campaign.guidelines.select_related("author").order_by("-version")[0]
    if seen and seen != text_digest(latest.text, latest.translations):
        raise ChangedMeanwhileError(
            f"{latest.author or 'Somebody'} has changed the guidelines meanwhile (version "
            f"{latest.version}). Your text is kept below: compare, then save again."
        )
    language = language or latest.language
    if not text and others:
        raise CampaignError("Write the main text first: it is read where there is no translation.")
    if language in others:
        raise CampaignError("The main text is in this language: leave its translation empty.")
    if (latest.text, latest.language, latest.translations) == (text, language, others):
        raise CampaignError("That is the text in force already.")
    pictures = find_pictures(campaign, "\n\n".join([text, *others.values()]))
    said = {"language": language, "translations": others}
    record(by, Action.GUIDELINES_PUBLISHED, campaign, n_characters=len(text))
    if campaign.state == CampaignState.DRAFT:
        latest.text, latest.author, latest.pictures = text, by, pictures
        latest.language, latest.translations = language, others
        latest.save(update_fields=["text", "author", "pictures", *said])
        return latest
    campaign.guideline_version = latest.version + 1
    campaign.save(update_fields=["guideline_version"])
    return Guideline.objects.create(
        campaign=campaign, version=campaign.guideline_version, text=text, author=by,
        pictures=pictures, **said,
    )  # fmt: skip


def _tidy(text: str) -> str:
    """Return a text as it is stored.

    Raises:
        CampaignError: it is too long.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > MAX_GUIDELINE:
        raise CampaignError(f"Guidelines have at most {MAX_GUIDELINE:,} characters.")
    return text


def find_pictures(campaign: Campaign, text: str) -> dict[str, int]:
    """Return the ids of the images that guidelines show, by what the text calls them.

    Raises:
        CampaignError: an image is unknown or ambiguous; all such are named with their lines.
    """
    found, problems = known_pictures(campaign, text)
    if problems:
        raise CampaignError(picture_problems(problems))
    return found


def picture_problems(problems: Sequence[str]) -> str:
    """Return in one sentence why pictures cannot be shown."""
    return f"Guidelines: {'; '.join(problems[:10])}."


def known_pictures(campaign: Campaign, text: str) -> tuple[dict[str, int], list[str]]:
    """Return the images that guidelines show, as `find_pictures`, and why others are not known."""
    found, problems = dict[str, int](), list[str]()
    named = picture_names(text)
    if not named:
        return found, problems
    images = catalog_names(campaign)
    for line, name in named:
        try:
            found[name] = images.find(name)
        except UnknownImageError as problem:
            problems.append(f"line {line}: {problem}")
    return found, problems


@transaction.atomic
def read_guidelines(*, campaign_uid: uuid.UUID, annotator_id: int, version: int) -> PanelMember:
    """Note that a judge has read a version of the guidelines; again changes nothing.

    Raises:
        NotOnPanelError: as `find_judge`.
        CampaignError: there is no such version.
    """
    judge = find_judge(campaign_uid, annotator_id, locked=True)
    if not 1 <= version <= judge.guideline_version:
        raise CampaignError(f"There is no version {version} of the guidelines.")
    member = PanelMember.objects.select_related("campaign").get(pk=judge.member_id)
    _, is_new = GuidelineReading.objects.get_or_create(member=member, version=version)
    if version > member.read_version:
        member.read_version = version
        member.save(update_fields=["read_version"])
    if is_new:
        record(None, Action.GUIDELINES_READ, member.campaign, version=version)
    return member
