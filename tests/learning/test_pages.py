"""Pages of notions: the owner, a stranger, bad input; what a worker is asked and answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from catalog.models import EmbeddingSet
from jobs.models import Job
from learning import live
from learning.models import Family, Notion, TextSpace, TrainingRun
from learning.notions.services import NOTION_TASK
from learning.runs.families import TASKS
from tests.catalogs import add_photo
from tests.clients import signed_in
from tests.learning.spaces import PARENT
from tests.pictures import jpeg

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
WORDS = {"words": "red, green, blue", "template": "a {} thing", "dim": "2"}


@pytest.fixture(autouse=True)
def _no_answers() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, dict[str, Any]]]:
    """What the pages have sent to the broker, which no worker reads here."""
    sent: list[Any] = []
    monkeypatch.setattr(
        "learning.live.current_app.send_task", lambda _, args, **how: sent.append(args)
    )
    return sent


@pytest.fixture
def chief(admin: User) -> Client:
    return signed_in(admin)


def page(client: Client, name: str, *arguments: object, **query: str) -> str:
    response = client.get(reverse(f"learning:{name}", args=arguments), query)
    assert response.status_code == 200
    return response.content.decode()


def test_words_are_fitted_by_a_worker_and_the_neighbours_change(chief, space, paints, asked):
    red = paints.images.filter(attributes__colour="red").first()
    address = {**WORDS, "image": str(red.uid)}
    first = page(chief, "preview", "paints", **address)
    assert "Fitting…" in first
    assert 'hx-trigger="load delay' in first
    page(chief, "preview", "paints", **address)
    ((space_id, question),) = asked  # asked once, however often the page looks
    live.answer(space_id, question)
    done = page(chief, "preview", "paints", **address)
    assert "Fitting…" not in done
    assert 'hx-trigger="load' not in done
    after = done.split("Nearest after")[1]
    uids = [part.split('"')[0].split("/")[0] for part in after.split("/images/")[1:]]
    found = [paints.images.get(uid=uid) for uid in uids]
    assert len(found) == 8
    assert red.product_id not in {image.product_id for image in found}
    assert sum(image.attributes["colour"] == "red" for image in found) >= 7


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"words": "red"}, "Words: 1 is given; from 2 to 5,000 are needed"),
        ({"words": "red, red"}, "Words: &#x27;red&#x27; is there twice"),
        ({"words": ""}, "Words: This field is required."),
        ({"template": "a thing"}, "Template: &#x27;a thing&#x27; must have {} once"),
        ({"dim": "0"}, "Directions: Ensure this value is greater than or equal to 1."),
        ({"method": "magic"}, "Method: Select a valid choice."),
    ],
)
def test_words_that_say_nothing_are_named_and_asked_of_nobody(
    chief, space, asked, changes, sentence
):
    shown = page(chief, "preview", "paints", **{**WORDS, **changes})
    assert sentence in shown
    assert "Nearest after" not in shown
    assert asked == []
    kept = chief.post(
        reverse("learning:editor", args=["paints"]), {**WORDS, **changes, "name": "N"}
    )
    assert kept.status_code == 200
    assert not Job.objects.filter(task=NOTION_TASK).exists()


def test_a_word_that_the_encoder_does_not_know_is_an_answer_too(chief, space, asked):
    unknown = {"words": "\u2603\n\u2604", "template": ""}
    page(chief, "preview", "paints", **unknown)
    live.answer(*asked[0])
    assert "knows no word of" in page(chief, "preview", "paints", **unknown)


def test_what_somebody_may_mend_is_said_and_looked_at_again(chief, space, asked, monkeypatch):
    right = space.encoder_fingerprint
    TextSpace.objects.update(encoder_fingerprint="0" * 64)
    page(chief, "preview", "paints", **WORDS)
    live.answer(*asked[0])
    assert "was learned with another sentence:" in page(chief, "preview", "paints", **WORDS)
    monkeypatch.setattr(live, "MENDED_SECONDS", 0)
    live.answer(*asked[0])
    again = page(chief, "preview", "paints", **WORDS)
    assert 'hx-trigger="load delay' in again, "asked anew, not kept for a day"
    TextSpace.objects.update(encoder_fingerprint=right)


@pytest.mark.parametrize("change", ["deleted", "other weights"])
def test_a_parent_that_is_not_what_it_was_is_named_beside_a_notion(chief, notion_of, change):
    image = notion_of("Colour").space.catalog.images.first()
    if change == "deleted":
        EmbeddingSet.objects.filter(spec=PARENT).delete()
    else:
        EmbeddingSet.objects.filter(spec=PARENT).update(fingerprint="0" * 64)
    shown = page(chief, "notion_neighbours", "paints", "colour", image=str(image.uid))
    assert "by descriptor:colour-histogram, which the notion maps, are gone or were made" in shown
    assert "Nearest after" not in shown


def test_pictures_are_found_by_words(chief, space, paints, asked):
    assert "Reading “a green thing”" in page(chief, "words", "paints", q="a green thing")
    for one in asked:
        live.answer(*one)
    shown = page(chief, "words", "paints", q="a green thing")
    first = shown.split('id="found"')[1].split("/images/")[1].split("/")[0]
    assert paints.images.get(uid=first).attributes["colour"] == "green"
    add_photo(paints, 500, jpeg(seed=3))
    assert "1 picture of “Paints” is not in this space yet" in page(chief, "words", "paints")
    EmbeddingSet.objects.filter(spec="learned:paints").delete()
    assert "73 pictures of “Paints” are not in" in page(chief, "words", "paints", q="a green thing")


def test_an_admin_keeps_a_notion_and_a_reader_only_looks(chief, space, notion_of, asked):
    reader = signed_in(User.objects.create_user("rosa", password="x", role=Role.RESEARCHER))
    judge = signed_in(User.objects.create_user("anna", password="x", role=Role.ANNOTATOR))
    notion_of("Colour")
    keep = reverse("learning:editor", args=["paints"])
    for client in (reader, judge):
        client.post(keep, {**WORDS, "name": "Mine"})
        for name, *arguments in (("delete", "paints"), ("delete_notion", "paints", "colour"),
                                 ("add_pictures", "paints")):  # fmt: skip
            posted = client.post(reverse(f"learning:{name}", args=arguments))
            assert posted.status_code == 403
        assert client.get(reverse("learning:new")).status_code == 403
    assert not Job.objects.filter(task=NOTION_TASK, state="queued").exists()
    for name, *arguments in (("home",), ("space", "paints"), ("editor", "paints"),
                             ("notion", "paints", "colour"), ("words", "paints")):  # fmt: skip
        assert "Colour" in page(reader, name, *arguments) or name in {"editor", "words"}
        assert judge.get(reverse(f"learning:{name}", args=arguments)).status_code == 403
    assert "Nearest after" in page(reader, "notion_neighbours", "paints", "colour",
                                   image=str(space.catalog.images.first().uid))  # fmt: skip
    assert "Make a pool with it" not in page(reader, "notion", "paints", "colour")
    assert chief.post(keep, {**WORDS, "name": "Shade"}).status_code == 302
    assert "Fit the notion “Shade”" in page(chief, "space", "paints")
    chief.post(reverse("learning:delete_notion", args=["paints", "colour"]))
    assert not Notion.objects.exists()
    assert chief.get(reverse("learning:space", args=["nothing"])).status_code == 404


def test_an_admin_asks_for_a_text_space_once(chief, paints):
    form = {"name": "Paints", "catalog": paints.pk, "model": PARENT, "columns": "colour",
            "captions": "colour=a {} thing", "epochs": 30, "seed": 0}  # fmt: skip
    for wrong, sentence in (
        ({"columns": "maker"}, "no image has"),
        ({"captions": "colour"}, "is not ATTRIBUTE=CAPTION"),
        ({"model": "x"}, "names no backbone"),
    ):
        shown = chief.post(reverse("learning:new"), {**form, **wrong})
        assert sentence in shown.content.decode()
    assert not TrainingRun.objects.exists()
    assert chief.post(reverse("learning:new"), form).status_code == 302
    assert Job.objects.get(task=TASKS[Family.SPACE]).title == "Learn the text space “Paints”"
    assert "Learn the text space “Paints”" in page(chief, "home")
    again = chief.post(reverse("learning:new"), form)
    assert "there is another learned model “paints”" in again.content.decode()
    assert "Learn a text space" in page(chief, "words", "paints")
    chief.post(reverse("learning:delete", args=["paints"]))
    assert not TextSpace.objects.exists()
    assert not TrainingRun.objects.exists()


def test_a_form_for_a_pool_offers_what_was_learned(chief, notion_of):
    notion_of("Colour")
    shown = chief.get(reverse("pooling:new"), {"models": "learned:paints#colour"}).content.decode()
    assert 'value="learned:paints#colour"' in shown


def test_the_editor_offers_the_values_of_each_attribute_that_the_space_has_read(chief, space):
    shown = page(chief, "editor", "paints")
    assert 'Values of <a href="?column=colour">colour</a>' in shown
    by_colour = page(chief, "editor", "paints", column="colour")
    words = by_colour.split("<textarea")[1].split(">")[1].split("<")[0]
    assert {"red", "green", "blue"} <= set(words.strip().split(", "))
    assert 'value="a {} thing"' in by_colour
    assert page(chief, "editor", "paints", column="nothing at all")


@pytest.mark.parametrize("number", ["9" * 18, "9" * 30, "9" * 5000, "-1", "²"])
def test_a_page_of_pictures_that_cannot_be_is_the_first(chief, space, paints, number):
    shown = page(chief, "editor", "paints", page=number)
    assert "page=1" in shown


def test_a_worker_gets_ready_for_the_first_preview_before_anybody_asks(space, monkeypatch):
    fitted = []
    monkeypatch.setattr(
        "learning.notions.fit.fit_notion", lambda where, recipe: fitted.append(where.slug)
    )
    live.get_ready()
    assert fitted == ["paints"]
    TextSpace.objects.all().delete()
    live.get_ready()
    assert fitted == ["paints"], "a site without a text space loads nothing"
