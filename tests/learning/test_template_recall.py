"""Templates whose condition is a notion's name are answered by the notion."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conditional.models import RetrievalTemplate, TemplateScore, TemplateSet
from conditional.template_sets.recall_services import request_score
from lookalike.conditional.types import DistractorKind
from lookalike.core.errors import Refused
from tests.clients import signed_in
from tests.pooling.run_command import printed

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def templates(paints):
    """Each asks which of five looks like the reference in colour; the others are as bright."""
    made = TemplateSet.objects.create(
        slug="focus", name="Focus", catalog=paints, task="focus_attribute", source="catalog"
    )
    images = list(paints.images.order_by("pk"))
    for position in range(12):
        reference, target = images[position], images[position + 30]
        others = [one for one in images[position + 1 : position + 7]
                  if one.attributes["colour"] != reference.attributes["colour"]]  # fmt: skip
        assert target.attributes["colour"] == reference.attributes["colour"]
        RetrievalTemplate.objects.create(
            template_set=made, position=position, condition="Colour", reference=reference,
            target=target, gallery=[one.pk for one in others],
            kinds=[DistractorKind.UNKNOWN] * len(others),
        )  # fmt: skip
    return made


def test_an_unknown_space_and_a_catalog_without_the_parents_vectors_are_named(
    templates, notion_of, paints
):
    with pytest.raises(Refused, match="no learned model is called 'shop'"):
        request_score(template_set=templates, model="notions:shop", owner=None)
    notion_of("Colour")
    paints.embedding_sets.all().delete()
    with pytest.raises(Refused, match="of which “Paints” has no complete embedding set"):
        request_score(template_set=templates, model="notions:paints", owner=None)


def test_a_notion_called_like_the_condition_finds_the_targets(templates, notion_of, admin):
    with pytest.raises(Refused, match=r"of the set \(Colour\); there is none"):
        request_score(template_set=templates, model="notions:paints", owner=None)
    notion_of("Cut")
    with pytest.raises(Refused, match=r"like a condition of the set \(Colour\); there is cut"):
        request_score(template_set=templates, model="notions:paints", owner=None)
    notion_of("Colour")
    found = printed("score_templates", "focus", "--model", "notions:paints")
    (score,) = found["scores"]
    assert score["baseline"] == "notion"
    assert score["recall"]["1"] > 0.7
    assert score["by_set"][0]["chance"]["1"] < 0.25
    row = TemplateScore.objects.get()
    assert row.baseline_label == "Image, by the condition’s notion"
    page = signed_in(admin).get(reverse("conditional:set", args=["focus"])).content.decode()
    assert '<option value="notions:paints">' in page
    assert row.baseline_label in page
