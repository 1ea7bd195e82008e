"""Catalogs with attributes, sets of templates over them, and answers to templates."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign, Question
from annotation.picture_keys import seal_place
from catalog.models import Catalog, Image, SourceFile
from conditional.models import PanelQuestion, TemplateSet
from conditional.template_sets.services import BUILD_TASK, build_set
from jobs.services import run_here
from lookalike.conditional.recipes import Recipe
from lookalike.conditional.types import Task
from tests.clients import Browser, answer_to


def entry(number, **changes):
    views = [{"val_image_id": number + place} for place in range(16)]
    return {
        "condition": "chair",
        "reference": views[0],
        "target": views[1],
        "gallery": views[2:],
        **changes,
    }


def judges_of(campaign: Campaign) -> list[Browser]:
    """The panel's browsers, in its order."""
    return [Browser(campaign, seat.annotator) for seat in campaign.panel.order_by("number")]


def subjects_of(campaign: Campaign) -> list[Any]:
    """The templates or triplets that the panel is asked about, by position."""
    asked = campaign.questions.filter(kind="pair").values_list("subject", flat=True)
    found: Any = campaign.kind.subjects(asked).values()
    return sorted(found, key=lambda one: one.position)


def question_of(campaign: Campaign, subject: PanelQuestion) -> Question:
    return campaign.questions.get(kind="pair", subject=subject.pk)


def key_of(campaign: Campaign, subject: PanelQuestion, place: int | None) -> str:
    """What the browser calls a picture, by its place among the candidates."""
    return seal_place(campaign.uid, str(question_of(campaign, subject).uid), place)


def given(campaign: Campaign, subject: PanelQuestion, answer: str | int, **changes: Any) -> Any:
    """An answer as the page sends it; a number picks that candidate, wherever it is seen."""
    what = answer if isinstance(answer, str) else f"pick:{key_of(campaign, subject, answer)}"
    return answer_to(str(question_of(campaign, subject).uid), what, mode="choice", **changes)


def say(judge: Browser, subject: PanelQuestion, answer: str | int, **changes: Any) -> Any:
    """Answer as the page does; return what became of it."""
    _, reply = judge.send(given(judge.campaign, subject, answer, **changes))
    return reply["results"][0]


COLOURS = ("red", "green", "blue", "black")
KINDS = ("bag", "coat", "hat")


def make_catalog(slug: str = "shop", n: int = 120) -> Catalog:
    """Make a catalog without files: each colour of each kind, every image a product."""
    catalog = Catalog.objects.create(slug=slug, name=slug.title())
    images = Image.objects.bulk_create(
        Image(
            catalog=catalog,
            sha256=hashlib.sha256(f"{slug} {number}".encode()).hexdigest(),
            product_id=f"secret-product-{number}",
            attributes={
                "kind": KINDS[number % len(KINDS)],
                "colour": COLOURS[number % len(COLOURS)],
                "view": "main" if number % 5 else "back",
            },
            width=300,
            height=200,
            image_format="JPEG",
            n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for number in range(n)
    )
    SourceFile.objects.bulk_create(
        SourceFile(catalog=catalog, image=image, path=f"photos/{number:012d}.jpg")
        for number, image in enumerate(images)
    )
    return catalog


def recipe_of(**changes: Any) -> Recipe:
    """Ask for templates "this kind of thing, but in another colour"."""
    given: dict[str, Any] = {
        "task": Task.CHANGE_ATTRIBUTE,
        "same": ("kind",),
        "ask": ("colour",),
        "n_templates": 30,
        "seed": 3,
    }
    return Recipe(**{**given, **changes})


def built_set(catalog: Catalog, name: str = "Other colours", **changes: Any) -> TemplateSet:
    """Build a set as the command does."""
    recipe = recipe_of(**changes)
    job = run_here(
        task=BUILD_TASK,
        subject=f"template set {uuid.uuid4()}",
        title="Build",
        arguments={"catalog": catalog.pk, "name": name, "recipe": recipe.as_json()},
        work=build_set,
    )
    return TemplateSet.objects.get(slug=job.result["set"])


def catalog_of_files(names: Sequence[str], size: tuple[int, int] = (400, 400)) -> Catalog:
    """Make a catalog of images without files, one of each name."""
    catalog = Catalog.objects.create(slug="files", name="Files")
    images = Image.objects.bulk_create(
        Image(
            catalog=catalog, sha256=f"{number:064x}", width=size[0], height=size[1],
            image_format="JPEG", n_bytes=1, perceptual_hash="0" * 16,
        )
        for number, _ in enumerate(names)
    )  # fmt: skip
    SourceFile.objects.bulk_create(
        SourceFile(catalog=catalog, image=image, path=f"{name}.jpg")
        for name, image in zip(names, images, strict=True)
    )
    return catalog
