"""Verified templates and answered triplets over the images of a world."""

from __future__ import annotations

import uuid

from django.utils import timezone

from accounts.models import Role, User
from catalog.models import Image
from conditional.models import (
    RetrievalTemplate,
    TemplateRuling,
    TemplateSet,
    Triplet,
    TripletSet,
    Verification,
    Verifier,
    VerifierAnswer,
)
from releases.models import Release
from tests.worlds import World, freeze_now, request_for

N_DISTRACTORS = 9
# What three judges said of each template; the target is at place 9.
VOTES: list[list[tuple[str, int | None]]] = [
    [("pick", 9), ("pick", 9), ("pick", 2)],  # passes
    [("pick", 9), ("pick", 9), ("pick", 9)],  # passes
    [("pick", 1), ("pick", 1), ("none", None)],  # fails, with a unique answer
    [("several", None), ("several", None), ("pick", 9)],  # fails without one
    [("pick", 9), ("pick", 3), ("bad_condition", None)],  # no majority; ruled to pass
    [("pick", 9), ("none", None), ("several", None)],  # no majority, no ruling
]
CONDITIONS = ["color", "color", "color", "kind", "kind", "kind"]


def add_templates(world: World, slug: str = "focus", task: str = "focus_attribute") -> Verification:
    """A closed verification of six templates by three judges, one of them the campaign's."""
    made = TemplateSet.objects.create(
        slug=f"{slug}-set", name="Focus set", catalog=world.catalog, task=task,
        source="catalog", seed=7,
    )  # fmt: skip
    images = world.images
    rows = [
        RetrievalTemplate.objects.create(
            template_set=made, position=at, condition=condition, reference=images[at],
            target=images[at + 6], gallery=[image.pk for image in images[12 : 12 + N_DISTRACTORS]],
            kinds=["lacks_condition"] * 5 + ["unknown"] * 4, answer=3,
            boxes={"target": [1, 2.5, 3, 4]} if at == 0 else {},
        )
        for at, condition in enumerate(CONDITIONS)
    ]  # fmt: skip
    verification = Verification.objects.create(
        slug=slug, name="Focus, verified", template_set=made, state="closed", seed=1,
        guidelines="Pick the one.",
    )  # fmt: skip
    verification.templates.set(rows)
    people = [
        world.judges[0],
        *(
            User.objects.create_user(f"verifier-{slug}-{name}", role=Role.ANNOTATOR)
            for name in ("hilde", "jorge")
        ),
    ]
    for number, person in enumerate(people):
        seat = Verifier.objects.create(verification=verification, annotator=person, number=number)
        for row, votes in zip(rows, VOTES, strict=True):
            answer(seat, row, "none", None)  # thought better of
            answer(seat, row, *votes[number])
    TemplateRuling.objects.create(verification=verification, template=rows[4], passes=False)
    TemplateRuling.objects.create(verification=verification, template=rows[4], passes=True)
    TemplateRuling.objects.create(verification=verification, template=rows[2], passes=True)
    return verification


def answer(seat: Verifier, row: RetrievalTemplate, choice: str, place: int | None) -> None:
    """Answer as the page does."""
    now = timezone.now()
    VerifierAnswer.objects.create(
        uuid=uuid.uuid4(), verifier=seat, template=row, choice=choice, picked=place,
        device="keyboard", shown_at=now, decided_at=now,
    )  # fmt: skip


def add_triplets(world: World, slug: str = "triplets") -> TripletSet:
    """Four answers of two people to two triplets."""
    made = TripletSet.objects.create(slug=slug, name="Triplets", catalog=world.catalog)
    a, b, c, d = world.images[:4]
    rows: list[tuple[Image, Image, Image, str]] = [
        (a, b, c, "Worker-77"), (a, c, b, "Worker-78"), (a, b, c, "Worker-79"),
        (b, c, d, "Worker-77"), (b, d, c, ""),
    ]  # fmt: skip
    for position, (anchor, closer, farther, worker) in enumerate(rows):
        Triplet.objects.create(
            triplet_set=made, position=position, anchor=anchor, closer=closer, farther=farther,
            condition="colour", worker=worker,
        )  # fmt: skip
    return made


def freeze_sets(world: World, version: str = "1.0.0", **changes: object) -> Release:
    """Freeze the world with its templates and triplets."""
    sets: dict[str, object] = {"template_sets": ("focus",), "triplet_sets": ("triplets",)}
    return freeze_now(request_for(world, version, **{**sets, **changes}))
