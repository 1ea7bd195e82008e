"""A notion is said in words, fitted whole or not at all, and refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Projection
from catalog.vectors.projections import read_layers
from jobs.services import JobError
from learning.models import Notion
from learning.notions.recipes import NotionRecipe, parse_words
from learning.notions.services import delete_notion, start_notion
from lookalike.core.errors import Refused
from tests.learning.spaces import learned_notion

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_a_notion_maps_the_towers_vectors_and_is_the_same_for_the_same_seed(notion_of, space):
    first, again = notion_of("One"), notion_of("Two")
    assert first.projection.sha256 == again.projection.sha256
    other = notion_of("Three", seed=1)
    assert other.projection.sha256 != first.projection.sha256
    layers = read_layers(first.projection.sha256)
    assert (layers.n_in, layers.dim) == (read_layers(space.projection.sha256).n_in, 2)
    assert layers.card["prompts"] == ["a red thing", "a green thing", "a blue thing"]
    assert first.projection.seen_image_ids == space.projection.seen_image_ids


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"words": ("red",)}, "words: 1 is given; from 2 to 5,000 are needed"),
    ({"words": ()}, "words: 0 are given; from 2 to 5,000 are needed"),
    ({"words": ("red", "blue", "red")}, "words: 'red' is there twice; each may be there once"),
    ({"template": "a thing"}, "template: 'a thing' must have {} once, where a word goes"),
    ({"dim": 0}, "dim: 0 is not from 1 to 1,024."),
    ({"method": "magic"}, "method: there is no 'magic', but indirect, span."),
    ({"template": "", "words": ("\u2603", "red")}, "knows no word of '\u2603'"),
    ({"words": ("red", "Red")}, "prompts: 'a red thing' and 'a Red thing' are the same to"),
]


def test_words_that_say_no_notion_are_refused_and_leave_nothing(notion_of):
    for changes, sentence in REFUSED:
        with pytest.raises((Refused, JobError)) as caught:
            notion_of(**changes)
        assert sentence in str(caught.value)
    assert not Notion.objects.exists()
    assert Projection.objects.count() == 1


@pytest.mark.parametrize(
    "problem", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: ...")]
)
def test_too_small_a_memory_is_named_and_leaves_nothing(notion_of, monkeypatch, problem):
    def fit(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr("learning.notions.fit.fit_indirect", fit)
    with pytest.raises(JobError, match="memory: the worker's is too small for this"):
        notion_of()
    assert not Notion.objects.exists()
    assert Projection.objects.count() == 1


def test_a_name_is_taken_once_and_free_again_when_its_notion_is_deleted(notion_of, space, admin):
    notion = notion_of("Colour")
    recipe = NotionRecipe(words=("light", "dark"))
    with pytest.raises(Refused, match="there is a notion “colour” in “paints” already"):
        start_notion(space=space, name="colour", recipe=recipe, owner=admin)
    with pytest.raises(JobError, match="there is another notion “Colour” in “paints”"):
        learned_notion(space, "colour", recipe)
    delete_notion(notion=notion)
    assert learned_notion(space, "colour", recipe).recipe["words"] == ["light", "dark"]


def test_words_are_parted_by_commas_and_lines_and_prompts_by_lines_alone():
    assert parse_words(" red, green;\n\nblue\r\n") == ("red", "green", "blue")
    assert parse_words("a red, soft shoe\na hard one", are_prompts=True) == (
        "a red, soft shoe",
        "a hard one",
    )
