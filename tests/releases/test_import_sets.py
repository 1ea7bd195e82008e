"""Templates and triplets come back from a release without loss."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign, PanelMember
from annotation.services import close_campaign, open_campaign
from conditional.campaigns.queries import list_results
from conditional.models import RetrievalTemplate, TemplateSet, TripletSet
from lookalike.release.errors import ReleaseError
from lookalike.release.verify import verify
from releases.importing.release import import_any
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.clients import answer_to
from tests.conditional.cases import judges_of
from tests.releases.cases import rows_of
from tests.releases.conditional_world import add_templates, add_triplets, freeze_sets
from tests.worlds import World


@pytest.fixture
def release(world: World) -> Release:
    add_templates(world)
    add_triplets(world)
    return freeze_sets(world)


def said(folder: Path, table: str) -> Counter[str]:
    """What each person said, without who it was."""
    by_person: dict[str, list[Any]] = {}
    for row in rows_of(folder, table, ("set",)):
        by_person.setdefault(row.pop("annotator"), []).append(row)
    return Counter(map(str, by_person.values()))


def test_templates_and_triplets_come_back_without_loss(world: World, release: Release) -> None:
    made = import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    assert [one.slug for one in made.template_campaigns] == ["again-focus"]
    assert [one.slug for one in made.triplet_sets] == ["again-triplets"]
    again = freeze_sets(
        world, slug="again", campaigns=("again",), template_sets=("again-focus",),
        triplet_sets=("again-triplets",),
    )  # fmt: skip
    old, new = files_folder(release), files_folder(again)
    for name in ("templates", "template_candidates", "template_rulings", "template_verdicts",
                 "triplet_labels"):  # fmt: skip
        assert rows_of(old, name) != []
        assert rows_of(old, name, ("set",)) == rows_of(new, name, ("set",)), name
    assert rows_of(old, "triplets", ("set", "annotator")) == rows_of(
        new, "triplets", ("set", "annotator")
    )
    for name in ("template_votes", "triplets"):
        assert said(old, name) == said(new, name), name
    for kind, keys in {"template_sets": {"slug"}, "triplet_sets": {"slug"}}.items():
        [before], [after] = release.info[kind], again.info[kind]
        assert {key for key in before if before[key] != after[key]} == keys
    assert verify(new).findings == ()


def test_the_verification_shows_what_the_first_one_showed(world: World, release: Release) -> None:
    [made] = import_any(
        source=archive_path(release), slug="again", catalog=world.catalog
    ).template_campaigns
    first = Campaign.objects.get(slug="focus")
    shown = [[(one.verdict, one.passes) for one in list_results(of)] for of in (first, made)]
    assert shown[0] == shown[1]
    assert made.panel.count() == 3
    judges = {seat.annotator_id for seat in made.panel.select_related("annotator")}
    assert not any(seat.annotator.is_active for seat in made.panel.all())
    panel = made_panel("again")
    assert len(judges & panel) == 1  # who judged pairs and templates is one account again


def made_panel(slug: str) -> set[int]:
    return set(PanelMember.objects.filter(campaign__slug=slug).values_list("annotator", flat=True))


def test_a_panel_keeps_its_size_where_one_said_nothing(world: World) -> None:
    verification = add_templates(world)
    add_triplets(world)
    open_campaign(campaign=verification, reason="one thinks again")
    *_, judge = judges_of(verification)
    for one in judge.get("recent", n=200)["answers"]:
        if one["is_current"]:
            judge.send(answer_to(one["question"]["uid"], "withdrawn", undoes=one["uuid"]))
    close_campaign(campaign=verification, by=None, reason="done")
    release = freeze_sets(world)
    assert release.info["template_sets"][0]["n_judges"] == 3
    [made] = import_any(
        source=archive_path(release), slug="again", catalog=world.catalog
    ).template_campaigns
    assert made.panel.count() == 3
    again = freeze_sets(world, slug="again", campaigns=("again",), template_sets=(made.slug,))
    assert rows_of(files_folder(release), "template_verdicts", ("set",)) == rows_of(
        files_folder(again), "template_verdicts", ("set",)
    )


def test_a_taken_name_or_a_missing_image_stores_nothing(world: World, release: Release) -> None:
    TripletSet.objects.create(slug="again-triplets", name="Mine", catalog=world.catalog)
    n = TemplateSet.objects.count()
    with pytest.raises(ReleaseError, match="again-triplets"):
        import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    assert TemplateSet.objects.count() == n
    shown = set(RetrievalTemplate.objects.values_list("reference", flat=True))
    image = next(image for image in world.images if image.pk in shown)
    image.sha256 = "f" * 64
    image.save()
    with pytest.raises(ReleaseError, match="not in the catalog by SHA-256"):
        import_any(source=archive_path(release), slug="other", catalog=world.catalog)
