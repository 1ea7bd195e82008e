"""What contested pairs have in common: on the page where they are ruled on, for admins."""

from __future__ import annotations

import pytest

from accounts.models import Role, User
from annotation.queries.reviewing.disagreement import contested_groups
from tests.clients import signed_in
from tests.worlds import World, answer_all, build_world, same_colour

pytestmark = pytest.mark.django_db
ADDRESS = "/campaigns/{}/adjudication/"


@pytest.fixture
def world(db: None) -> World:
    """One of three judges calls pictures of different colour similar."""
    world = build_world(n_queries=12)
    answer_all(world.campaign, world.judges[0], lambda query, candidate: True)
    for judge in world.judges[1:]:
        answer_all(world.campaign, judge, same_colour)
    return world


def test_the_kind_of_pairs_that_divides_judges_is_named_with_what_to_write(world):
    [group] = contested_groups(world.campaign)
    assert group.words == "different colour"
    assert group.passage == "Say whether images of different colour can be similar."
    assert (group.share, group.elsewhere) == (100, 0)
    assert len(group.examples) == 3
    for question in group.examples:
        assert not same_colour(question.query, question.candidate)


def test_the_page_shows_it_when_asked_to_and_to_admins_alone(world):
    address = ADDRESS.format(world.campaign.slug)
    chief = signed_in(User.objects.create_user("chief", role=Role.ADMIN))
    page = chief.get(address).content.decode()
    assert "?groups=1#groups-title" in page
    later = chief.get(f"{address}?skip=1&page=1").content.decode()
    assert "?skip=1&amp;page=1&amp;groups=1#groups-title" in later
    assert "Different colour" not in page
    page = chief.get(f"{address}?groups=1").content.decode()
    assert "Different colour" in page
    assert "Judges disagree on 100 % of" in page
    assert "Say whether images of different colour can be similar." in page
    reply = signed_in(world.judges[0]).get(f"{address}?groups=1")
    assert "Different colour" not in reply.content.decode()


def test_where_everybody_says_the_same_there_is_nothing_to_group(db):
    world = build_world(n_queries=3)
    for judge in world.judges:
        answer_all(world.campaign, judge, same_colour)
    assert contested_groups(world.campaign) == []
    chief = signed_in(User.objects.create_user("chief", role=Role.ADMIN))
    page = chief.get(ADDRESS.format(world.campaign.slug) + "?groups=1").content.decode()
    assert "no kind of pairs is contested more often" in page
