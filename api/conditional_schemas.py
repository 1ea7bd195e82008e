"""Templates, triplets and what panels said of them, as the API shows them; images by uid."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from ninja import Field, Schema

from conditional.models import TemplateScore, TemplateSet
from conditional.template_sets.queries import list_conditions


class TemplateSetOut(Schema):
    """Retrieval templates of one task over one catalog."""

    slug: str
    name: str
    catalog: str = Field(validation_alias="catalog.slug")
    task: str = Field(
        description="focus_attribute, change_attribute, focus_object, change_object or composed."
    )
    source: str = Field(description="catalog, or the format of the file: genecis, cirr, …")
    seed: int | None = Field(description="Of the draw; null for a file.")
    file_sha256: str = Field(description="Of the imported file; empty if it was built here.")
    n_templates: int
    created_at: datetime


class ConditionOut(Schema):
    """A condition and how many templates have it."""

    condition: str
    n_templates: int


class TemplateScoreOut(Schema):
    """What one model scores on a set by one baseline."""

    model: str
    baseline: str = Field(description="image, text or image_text: what the query is made of.")
    is_normalised: bool = Field(description="Features had length 1 before they were combined.")
    recall: dict[str, dict[str, float]] = Field(
        description="Recall@k by k, for ties taken pessimistic, expected and optimistic."
    )
    chance: dict[str, float] = Field(description="Recall@k of a guess, by k.")
    n_templates: int
    n_ties: int = Field(description="Templates in which another image ties with the target.")
    scored_at: datetime

    @staticmethod
    def resolve_recall(score: TemplateScore) -> Any:
        return score.figures["recall"]

    @staticmethod
    def resolve_chance(score: TemplateScore) -> Any:
        return score.figures["chance"]

    @staticmethod
    def resolve_n_templates(score: TemplateScore) -> int:
        return int(score.figures["n_templates"])

    @staticmethod
    def resolve_n_ties(score: TemplateScore) -> int:
        return int(score.figures["n_ties"])


class TemplateSetWhole(TemplateSetOut):
    """A set of templates with its conditions, how it came about, and what models score."""

    recipe: dict[str, Any] = Field(description="What the builder was asked for.")
    report: dict[str, Any] = Field(description="How it came about: tries, rejections.")
    conditions: list[ConditionOut]
    scores: list[TemplateScoreOut]

    @staticmethod
    def resolve_conditions(found: TemplateSet) -> list[dict[str, Any]]:
        return [
            {"condition": condition, "n_templates": n} for condition, n in list_conditions(found)
        ]


class DistractorOut(Schema):
    """An image of a gallery that is not the target."""

    image: uuid.UUID
    kind: str = Field(description="lacks_condition, lacks_reference or unknown: why it is there.")


class TemplateOut(Schema):
    """Which image of a gallery is most like the reference, given the condition?"""

    uid: uuid.UUID = Field(validation_alias="template.uid")
    position: int = Field(validation_alias="template.position", description="From 0, in the set.")
    condition: str = Field(validation_alias="template.condition")
    reference: uuid.UUID
    target: uuid.UUID
    gallery: list[DistractorOut] = Field(
        description="The distractors, without the target; empty where the set’s split is searched."
    )
    boxes: dict[str, list[float]] = Field(
        validation_alias="template.boxes",
        description="left, top, width, height of what is shown, by role: reference, target, "
        "gallery[0], …; a role that is missing shows the whole image.",
    )


class TripletScoreOut(Schema):
    """What one embedding set scores on a set of triplets."""

    model: str = Field(validation_alias="embedding_set.spec")
    metric: str
    figures: dict[str, Any] = Field(description="Accuracy, ties and n; by condition, too.")
    scored_at: datetime


class TripletSetOut(Schema):
    """Questions "which of two is more like the anchor?", or answers to them."""

    slug: str
    name: str
    catalog: str = Field(validation_alias="catalog.slug")
    source: str = Field(description="file, suggested (questions only) or campaign (judged here).")
    seed: int | None = Field(description="Of the draw, if suggested.")
    file_sha256: str = Field(description="Of the imported file; empty for other sources.")
    n_questions: int = Field(description="Distinct questions that it holds, or is about.")
    n_answers: int = Field(description="Single answers; 0 of a suggested set.")
    created_at: datetime


class TripletSetWhole(TripletSetOut):
    """A set of triplets with its figures and what embedding sets score."""

    recipe: dict[str, Any] = Field(description="What it was made from, and how.")
    figures: dict[str, Any] = Field(description="Counted when it was stored.")
    scores: list[TripletScoreOut]


class TripletOut(Schema):
    """One person's answer: `closer` is more like the anchor than `farther`."""

    position: int = Field(validation_alias="triplet.position", description="From 0, in the set.")
    condition: str = Field(validation_alias="triplet.condition")
    anchor: uuid.UUID
    closer: uuid.UUID
    farther: uuid.UUID
    is_swapped: bool = Field(
        validation_alias="triplet.is_swapped", description="Reversed on purpose in the file."
    )


class TripletQuestionOut(Schema):
    """Which of two is more like the anchor?"""

    uid: uuid.UUID = Field(validation_alias="question.uid")
    position: int = Field(validation_alias="question.position", description="From 0, in the set.")
    condition: str = Field(validation_alias="question.condition")
    anchor: uuid.UUID
    first: uuid.UUID
    second: uuid.UUID


class AlignmentOut(Schema):
    """How well several embedding sets cover the conditions of a set of triplets (WS-CSL)."""

    uid: uuid.UUID
    metric: str
    seed: int = Field(description="Of the parts to fit on and to score on.")
    inputs: dict[str, Any] = Field(description="Hashes of the triplets and embedding sets.")
    result: dict[str, Any] = Field(
        description="conditions, embeddings, accuracies of both parts, the plan, and the scores."
    )
    scored_at: datetime
