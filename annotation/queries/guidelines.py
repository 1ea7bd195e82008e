"""What judges are told: the guidelines in force, and worked examples."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import Gold, Guideline, QuestionKind


def guideline_in_force(campaign_id: int) -> Guideline:
    """Return the newest version."""
    return Guideline.objects.filter(campaign_id=campaign_id).order_by("-version")[0]


class GuidelineText(NamedTuple):
    """What a judge reads, and in which language it is."""

    text: str
    language: str


def text_in(guideline: Guideline, language: str) -> GuidelineText:
    """Return guidelines in a language, or as they were written where there is no such text."""
    if language != guideline.language and guideline.translations.get(language):
        return GuidelineText(guideline.translations[language], language)
    return GuidelineText(guideline.text, guideline.language)


def guideline_text(campaign_id: int, version: int, language: str) -> str:
    """Return the text of a version in a language; "" where there is none."""
    found = Guideline.objects.filter(campaign_id=campaign_id, version=version).first()
    return text_in(found, language).text if found else ""


def is_in_guidelines(campaign_id: int, image_id: int) -> bool:
    """Return whether any version of a campaign's guidelines shows an image."""
    versions = Guideline.objects.filter(campaign_id=campaign_id).exclude(pictures={})
    return any(image_id in shown.values() for shown in versions.values_list("pictures", flat=True))


def worked_examples(campaign_id: int) -> QuerySet[Gold]:
    """Return the examples with their images, in the order in which they were added."""
    golds = Gold.objects.filter(
        question__campaign_id=campaign_id, question__kind=QuestionKind.EXAMPLE
    )
    return golds.select_related("question__query", "question__candidate").order_by("pk")
