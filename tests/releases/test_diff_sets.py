"""`diff` tells what became of templates and triplets from one release to the next."""

from __future__ import annotations

import pytest

from annotation.models import Campaign
from annotation.services import close_campaign, open_campaign
from conditional.models import RetrievalTemplate, TripletSet
from lookalike.cli.main import main
from lookalike.release.diff import diff
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.conditional.cases import judges_of, question_of
from tests.releases.conditional_world import add_templates, add_triplets, answer, freeze_sets
from tests.worlds import World, freeze_now, request_for


@pytest.fixture
def release(world: World) -> Release:
    add_templates(world)
    add_triplets(world)
    return freeze_sets(world)


def test_diff_tells_what_became_of_templates_and_triplets(
    world: World, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    verification = Campaign.objects.get(slug="focus")
    first, second, third = RetrievalTemplate.objects.order_by("position")[:3]
    open_campaign(campaign=verification, reason="they think again")
    for judge in judges_of(verification):
        answer(judge, first, "none", None)  # passed before
    close_campaign(campaign=verification, by=None, reason="done")
    RetrievalTemplate.objects.filter(pk=second.pk).update(condition="colour")
    question_of(verification, third).delete()
    triplets = TripletSet.objects.get(slug="triplets")
    rows = list(triplets.triplets.order_by("position"))
    for row in rows[:3:2]:  # both said that b is closer, against one
        row.closer, row.farther = row.farther, row.closer
        row.save()
    rows[3].delete()
    rows[4].delete()
    after = freeze_sets(world, "1.1.0")
    found = diff(archive_path(release), files_folder(after))
    of = found.templates
    assert (of.n_added, of.n_removed, of.n_changed) == (0, 1, 1)
    assert of.flipped == [("focus", "template 0", "verified", "not verified")]
    of = found.triplets
    a, b, c = (image.sha256 for image in world.images[:3])
    assert (of.n_added, of.n_removed, of.n_changed) == (0, 1, 1)
    assert of.flipped == [("triplets", f"{a[:16]} (colour)", b[:16], c[:16])]
    back = diff(files_folder(after), files_folder(release))
    assert (back.templates.n_added, back.triplets.n_added) == (1, 1)
    assert main(["diff", str(files_folder(release)), str(files_folder(after))]) == 0
    text = capsys.readouterr().out
    assert "templates: 0 added, 1 removed, 1 changed, 1 flipped" in text
    assert "flipped: focus, template 0 from verified to not verified" in text
    assert after.changes["templates"]["n_removed"] == 1


def test_diff_says_nothing_of_sets_where_nothing_changed(
    world: World, release: Release, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = freeze_now(request_for(world, "1.1.0"))
    assert diff(files_folder(plain), files_folder(release)).templates.n_added == 6
    assert main(["diff", str(files_folder(release)), str(files_folder(release))]) == 0
    assert "templates" not in capsys.readouterr().out
