"""What gold must not do: contradict itself, or serve a pair twice where that gives it away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from annotation.errors import CampaignError
from annotation.models import Campaign, Gold, QuestionKind
from annotation.services.questions import Pair
from catalog.models import Image, SourceFile

SHOWN = frozenset({QuestionKind.TRAINING, QuestionKind.EXAMPLE})  # judges read the answer
MAX_NAMED = 5


class GoldPair(NamedTuple):
    """A pair, or another kind's subject, with its known answer, and why it is so."""

    query_id: int
    candidate_id: int
    answer: str
    why: str = ""
    subject: int = 0

    @property
    def asked(self) -> Pair:
        """What is asked."""
        return Pair(self.query_id, self.candidate_id, self.subject)


Key = tuple[int, int, int]


def check_overlaps(campaign: Campaign, purpose: str, pairs: Sequence[GoldPair]) -> None:
    """Refuse pairs that contradict known answers, or that may not serve this purpose too.

    A pair and the same one with query and candidate swapped are one. Training and examples show
    the answer and may share pairs; a silent check, and a pair that qualifies, serve nothing else.

    Raises:
        CampaignError: names the pairs.
    """
    known: dict[Key, list[tuple[str, str]]] = {}
    stored = Gold.objects.filter(question__campaign=campaign).values_list(
        "question__query_id", "question__candidate_id", "question__subject", "question__kind",
        "answer",
    )  # fmt: skip
    for query, candidate, subject, kind, answer in stored:
        known.setdefault(_key(query, candidate, subject), []).append((kind, answer))
    contradicted, taken = [], []
    for pair in pairs:
        uses = known.setdefault(_key(*pair.asked), [])
        if any(answer != pair.answer for _, answer in uses):
            contradicted.append(pair.asked)
        others = {kind for kind, _ in uses} - {purpose}
        if others and not (purpose in SHOWN and others <= SHOWN):
            taken.append(pair.asked)
        uses.append((purpose, pair.answer))
    noun = campaign.kind.noun
    if contradicted:
        raise CampaignError(
            f"Gold contradicts itself: another answer is known already of the {noun} "
            f"{_named(contradicted)}."
        )
    if taken:
        raise CampaignError(
            f"A {noun} serves one purpose, since silent checks and qualification would be given "
            f"away otherwise. In use already: {_named(taken)}."
        )


def _key(query: int, candidate: int, subject: int) -> Key:
    return (0, 0, subject) if subject else (min(query, candidate), max(query, candidate), 0)


def _named(pairs: Iterable[Pair]) -> str:
    """Name pairs by the paths of their images, a few of them."""
    chosen = list(dict.fromkeys(pairs))
    ids = {pk for pair in chosen[:MAX_NAMED] for pk in pair[:2]}
    names = {image.pk: str(image.uid) for image in Image.objects.filter(pk__in=ids)}
    files = SourceFile.objects.filter(image__in=ids).order_by("-pk")
    names |= dict(files.values_list("image_id", "path"))
    said = [f"{names[pair.query_id]} and {names[pair.candidate_id]}" for pair in chosen[:MAX_NAMED]]
    more = len(chosen) - len(said)
    return "; ".join(said) + (f", and {more} more" if more > 0 else "")
