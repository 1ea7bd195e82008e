"""What a page asks a worker and shows as soon as it is there: texts read, notions fitted.

No torch here. Nothing of it is stored but in the cache: asked again, it is made again. Who asks
while a worker is at it is told so, and asks again.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from celery import current_app
from django.core.cache import cache

from jobs.queues import LIGHT
from jobs.services import JobError
from learning.models import TextSpace
from learning.notions.recipes import NotionRecipe, check_recipe
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.learning.projection import Layer, Layers

TASK = "learning.answer"
DAY = 86_400
ASKED_SECONDS = 45  # then the worker is taken for lost, and another one asked
WARM_SECONDS = 60
MENDED_SECONDS = 10  # after which a problem of the site is looked at again
N_PROCESSES = 2  # of the light worker
EXPIRES_SECONDS = 90  # nobody waits longer for a preview
FIRST = NotionRecipe(words=("red", "blue"))  # what is fitted to load all that fitting takes


def fitted(space: TextSpace, recipe: NotionRecipe) -> Layers | None:
    """Return the map from a space's vectors to a notion's; None while a worker fits it.

    Raises:
        Refused: words that say no notion.
    """
    check_recipe(recipe)
    weight = _answer(space, {"recipe": as_json(recipe)})
    return None if weight is None else Layers(weight.shape[1], (Layer.linear(weight),), {})


def text_vector(space: TextSpace, text: str) -> Float32s | None:
    """Return a text as a unit vector of a space, shape (dim,); None while a worker reads it.

    Raises:
        Refused: no word of it is known.
    """
    found = _answer(space, {"text": text})
    return None if found is None else found[0]


def warm(space: TextSpace) -> None:
    """Let workers load what answers take, once somebody looks at a space's pages.

    Each of the light worker's two processes loads its own; one that has it does nothing.
    """
    if cache.add(f"learning:warm:{space.encoder_fingerprint}", 1, WARM_SECONDS):
        for _ in range(N_PROCESSES):
            current_app.send_task(TASK, args=[space.pk, {}], queue=LIGHT, expires=EXPIRES_SECONDS)


def get_ready() -> None:
    """Load in a worker's process what an answer takes, if there is a text space to ask about."""
    newest = TextSpace.objects.order_by("-pk").values_list("pk", flat=True).first()
    if newest is not None:
        answer(newest, {})


def _answer(space: TextSpace, question: dict[str, Any]) -> Float32s | None:
    key = question_key(space, question)
    found = cache.get(key)
    if found is None:
        if cache.add(f"{key}:asked", 1, ASKED_SECONDS):
            current_app.send_task(
                TASK, args=[space.pk, question], queue=LIGHT, expires=EXPIRES_SECONDS
            )
        return None
    if isinstance(found, list):
        raise Refused(*found)
    return np.asarray(found, np.float32)


def question_key(space: TextSpace, question: dict[str, Any]) -> str:
    """Return where the answer to a question lies; another space of that name has another."""
    known = [space.texts_sha256, space.encoder_fingerprint, question]
    return "learning:" + hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def answer(space_id: int, question: dict[str, Any]) -> None:
    """Answer a question in a worker, which has torch; what is refused is an answer, too."""
    from learning.notions.fit import fit_notion  # noqa: PLC0415 - loads torch
    from learning.text_vectors import full_memory_named, read_texts  # noqa: PLC0415
    from lookalike.core.dataclass_json import from_json  # noqa: PLC0415

    space = TextSpace.objects.select_related("projection").filter(pk=space_id).first()
    if space is None:
        return
    if not question:
        fit_notion(space, FIRST)
        return
    key = question_key(space, question)
    found: Float32s | list[str]
    try:
        with full_memory_named():
            if "text" in question:
                found = read_texts(space, [question["text"]])
            else:
                recipe = from_json(NotionRecipe, question["recipe"])
                found = fit_notion(space, recipe).layers[0].weight
    except JobError as problem:  # somebody may mend it
        cache.set(key, ["", problem.message], MENDED_SECONDS)
        return
    except Refused as problem:
        found = [problem.field, problem.message]  # two arguments of an exception are not pickled
    cache.set(key, found, DAY)
