"""Templates and triplets over the API, read by the client against a live site."""

from __future__ import annotations

import pytest

from accounts.models import Role, User
from accounts.tokens.services import allowed_scopes, create_token
from audit.models import Entry
from conditional.models import TemplateSet, TripletAlignment
from conditional.template_sets.recall_services import store_scores
from lookalike.client import Client, NotFoundError
from tests.kept import kept
from tests.releases.conditional_world import add_templates, add_triplets
from tests.worlds import World, build_world

kept_world = kept(build_world)
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return kept_world()


@pytest.fixture
def site(live_server):
    def make(role: Role) -> Client:
        person = User.objects.create_user(f"{role}-asks", role=role)
        _, token = create_token(owner=person, name="t", scopes=allowed_scopes(person), days=1)
        return Client(live_server.url, token)

    return make


def test_templates_come_with_their_images_boxes_and_scores(world, site):
    made = TemplateSet.objects.get(campaigns__campaign=add_templates(world))
    rows = [[0, *range(1, 11)]] * 6
    store_scores(
        template_set=made, model="m", views=world.vectors["descriptor:lbp-texture"][:11],
        rows=rows, texts=None,
    )  # fmt: skip
    client = site(Role.RESEARCHER)
    [listed] = client.template_sets()
    assert (listed.slug, listed.catalog, listed.n_templates) == (made.slug, world.catalog.slug, 6)
    whole = client.template_set(made.slug)
    assert [(one.condition, one.n_templates) for one in whole.conditions] == [
        ("color", 3), ("kind", 3)
    ]  # fmt: skip
    [score] = whole.scores
    assert (score.model, score.baseline, score.n_templates) == ("m", "image", 6)
    assert score.chance["1"] == pytest.approx(0.1)
    uids = [str(image.uid) for image in world.images]
    first, *others = client.templates(made.slug)
    assert (first.reference, first.target, first.condition) == (uids[0], uids[6], "color")
    assert [one.image for one in first.gallery] == uids[12:21]
    assert (first.boxes, others[0].boxes) == ({"target": [1, 2.5, 3, 4]}, {})
    with pytest.raises(NotFoundError):
        client.template_set("none")


def test_triplets_come_without_who_answered_and_alignments_with_their_matrices(world, site):
    made = add_triplets(world)
    client = site(Role.RESEARCHER)
    whole = client.triplet_set(made.slug)
    assert (whole.n_answers, whole.source) == (5, "file")
    uids = [str(image.uid) for image in world.images]
    rows = list(client.triplets(made.slug))
    assert [(row.anchor, row.closer, row.farther) for row in rows[:2]] == [
        (uids[0], uids[1], uids[2]), (uids[0], uids[2], uids[1])
    ]  # fmt: skip
    assert not any("Worker" in repr(row) for row in rows)
    assert list(client.triplet_questions(made.slug)) == []
    TripletAlignment.objects.create(
        triplet_set=made, metric="cosine", seed=3, inputs={}, inputs_sha256="0" * 64,
        result={"plan": [[0.5, 0.5]]},
    )  # fmt: skip
    [aligned] = client.alignments(made.slug)
    assert (aligned.metric, aligned.seed, aligned.result) == ("cosine", 3, {"plan": [[0.5, 0.5]]})
    exports = Entry.objects.filter(action="exported", subject_id=str(made.pk))
    assert exports.get().details["what"] == "triplets"
