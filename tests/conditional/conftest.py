"""A catalog with attributes, people, and sets of templates over it."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Role, User
from catalog.models import Catalog, Image, SourceFile
from conditional.models import TemplateSet
from conditional.template_sets.services import BUILD_TASK, build_set
from jobs.services import run_here
from lookalike.conditional.recipes import Recipe
from lookalike.conditional.types import Task

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


@pytest.fixture
def catalog(db: None) -> Catalog:
    return make_catalog()


@pytest.fixture
def template_set(catalog: Catalog) -> TemplateSet:
    return built_set(catalog)


@pytest.fixture
def people(db: None) -> Callable[..., list[User]]:
    """Make so many people of one role."""

    def make(n: int, role: Role = Role.ANNOTATOR) -> list[User]:
        names = [f"{role}-{uuid.uuid4().hex[:8]}" for _ in range(n)]
        return [User.objects.create_user(name, role=role) for name in names]

    return make
