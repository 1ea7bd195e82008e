"""Ask for notions, and delete them.

No torch here: pages call these. The work itself is in `learning.notions.fit`.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.text import slugify

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.vectors.projections import delete_projection
from jobs.models import Job
from jobs.services import enqueue
from learning.models import Notion, TextSpace
from learning.models_in_use import refuse_if_pooled
from learning.notions.recipes import NotionRecipe, check_recipe
from learning.unused_files import remove_unused_files
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused

NOTION_TASK, PICTURES_TASK = "learning.learn_notion", "learning.draw_notion"


def start_notion(*, space: TextSpace, name: str, recipe: NotionRecipe, owner: User) -> Job:
    """Queue the fit of a notion.

    Raises:
        Refused: as `notion_job`, or there is a notion of that name.
        JobConflictError: it is being fitted, or the owner may not have so many jobs.
    """
    job = notion_job(space=space, name=name, recipe=recipe)
    if Notion.objects.filter(space=space, projection__head=job["arguments"]["slug"]).exists():
        raise Refused("name", f"there is a notion “{name}” in “{space}” already; choose another.")
    return enqueue(**job, owner=owner)


def notion_job(*, space: TextSpace, name: str, recipe: NotionRecipe) -> dict[str, Any]:
    """Return what names a notion's job: the same for a worker and for a command.

    Raises:
        Refused: a name without letters, or words that say no notion.
    """
    slug = slugify(name)[:80]
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    check_recipe(recipe)
    return {
        "task": NOTION_TASK,
        "subject": f"notion {space.slug}#{slug}",
        "title": f"Fit the notion “{name}”",
        "arguments": {
            "space_id": space.pk, "slug": slug, "name": name[:200], "recipe": as_json(recipe),
        },
    }  # fmt: skip


def start_pictures(*, notion: Notion, owner: User) -> Job:
    """Queue the drawing of a notion's pictures.

    Raises:
        JobConflictError: they are being drawn, or the owner may not have so many jobs.
    """
    return enqueue(
        task=PICTURES_TASK,
        subject=pictures_subject(notion),
        title=f"Draw the notion “{notion}”",
        arguments={"notion_id": notion.pk},
        owner=owner,
    )


def pictures_subject(notion: Notion) -> str:
    """Return what the drawing of a notion is about, so that each has one at a time."""
    return f"pictures of notion {notion.pk}"


def delete_notion(*, notion: Notion) -> None:
    """Delete a notion with the vectors that it has made.

    Raises:
        Refused: a pool uses it.
    """
    with transaction.atomic():
        refuse_if_pooled(notion.projection)
        record(None, Action.NOTION_DELETED, notion, spec=notion.spec)
        notion.delete()
        delete_projection(projection=notion.projection)
    remove_unused_files()
