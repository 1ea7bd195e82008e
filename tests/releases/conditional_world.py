"""Verified templates and answered triplets over the images of a world."""

from __future__ import annotations

from accounts.models import Role, User
from annotation.models import Adjudication, Campaign
from annotation.services import close_campaign
from catalog.models import Image
from conditional.campaigns.services import ask_panel
from conditional.models import RetrievalTemplate, TemplateSet, Triplet, TripletSet
from releases.models import Release
from tests.clients import Browser
from tests.conditional.cases import judges_of, question_of, say
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


def add_templates(world: World, slug: str = "focus", task: str = "focus_attribute") -> Campaign:
    """A closed campaign about six templates by three judges, one of them the campaign's."""
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
    people = [
        world.judges[0],
        *(
            User.objects.create_user(f"verifier-{slug}-{name}", role=Role.ANNOTATOR)
            for name in ("hilde", "jorge")
        ),
    ]
    campaign = ask_panel(
        asked_set=made, name="Focus, verified", slug=slug, panel=people, seed=1,
        guidelines="Pick the one.",
    )  # fmt: skip
    for number, judge in enumerate(judges_of(campaign)):
        for row, votes in zip(rows, VOTES, strict=True):
            answer(judge, row, "none", None)  # thought better of
            answer(judge, row, *votes[number])
    close_campaign(campaign=campaign, by=None, reason="done")
    for at, ruling in ((4, "passes"), (2, "passes")):  # the panel has decided about the latter
        Adjudication.objects.create(
            question=question_of(campaign, rows[at]), answer=ruling, reason="seen"
        )
    return Campaign.objects.get(pk=campaign.pk)


def answer(judge: Browser, row: RetrievalTemplate, choice: str, place: int | None) -> None:
    """Answer as the page does."""
    result = say(judge, row, choice if place is None else place)
    assert result["status"] == "saved", result


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
