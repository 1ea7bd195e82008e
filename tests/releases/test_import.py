"""Round trip: a release imported and frozen again says the same; so do VSD JSON and qrels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from accounts.models import User
from annotation.models import Adjudication, Campaign, Guideline, Judgement, Question
from annotation.queries.labels import labels
from catalog.models import Catalog, Image, SourceFile
from evaluation.exports import export_pieces
from lookalike.io.errors import InputError
from lookalike.io.labels import read_qrels
from lookalike.io.vsd_task import make_vsd_task, read_vsd_task, zip_vsd_task
from lookalike.release.errors import ReleaseError
from releases.importing.release import import_any
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.releases.cases import rows_of
from tests.worlds import World, freeze_now, request_for


def test_a_release_comes_back_without_loss(world: World) -> None:
    first = Judgement.objects.filter(question__kind="pair").order_by("pk")[0]
    Judgement.objects.filter(pk=first.pk).update(answer="skip")
    question = Question.objects.filter(campaign=world.campaign, kind="pair")[1]
    Adjudication.objects.create(question=question, answer="different", reason="r")
    Guideline.objects.create(campaign=world.campaign, version=2, text="Second text")
    release = freeze_now(request_for(world))
    made = import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    assert made.n_judgements == len(rows_of(files_folder(release), "judgements"))
    again = freeze_now(request_for(world, slug="again", campaigns=("again",)))
    old, new = files_folder(release), files_folder(again)
    for name in ("images", "queries", "rulings", "excluded", "negatives", "qrels", "results"):
        assert rows_of(old, name) == rows_of(new, name), name
    chance = "p_dawid_skene"  # sums over judges in another order
    assert rows_of(old, "labels", (chance,)) == rows_of(new, "labels", (chance,))
    for before, after in zip(rows_of(old, "labels"), rows_of(new, "labels"), strict=True):
        assert before[chance] == pytest.approx(after[chance], abs=1e-6)
    assert rows_of(old, "pairs", ("campaign",)) == rows_of(new, "pairs", ("campaign",))
    assert rows_of(old, "pool", ("pool",)) == rows_of(new, "pool", ("pool",))
    changing = ("campaign", "mode", "annotator")
    key = str
    assert sorted(rows_of(old, "judgements", changing), key=key) == sorted(
        rows_of(new, "judgements", changing), key=key
    )
    assert _by_judge(old) == _by_judge(new)
    assert (new / "guidelines/again-v2.md").read_text() == "Second text"


def _by_judge(folder: Path) -> list[list[tuple[str, str, str]]]:
    """What each judge said, without who said it."""
    said: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows_of(folder, "judgements"):
        said.setdefault(row["annotator"], []).append(
            (row["query_id"], row["image_id"], row["answer"])
        )
    return sorted(said.values())


def test_imported_judges_cannot_sign_in(release: Release, world: World) -> None:
    import_any(source=archive_path(release), slug="again", catalog=world.catalog)
    made = User.objects.filter(username__startswith="again-")
    assert made.count() == 3
    assert not any(user.is_active or user.has_usable_password() for user in made)


@pytest.mark.parametrize("name", ["vsd/annotations.json", "trec/qrels.txt"])
def test_labels_in_another_format_come_back(release: Release, world: World, name: str) -> None:
    source = files_folder(release) / name
    [campaign] = import_any(
        source=source, slug="labels", name="Labels", catalog=world.catalog
    ).campaigns
    table = labels(campaign)
    expected = list(read_qrels(source))
    assert len(table) == len(expected)
    assert int(table.is_similar.sum()) == sum(label for _, _, label in expected)


def test_grades_come_back_as_grades_with_their_threshold(
    release: Release, world: World, tmp_path: Path
) -> None:
    rows = (files_folder(release) / "trec/qrels.txt").read_text().split("\n")[:-1]
    source = tmp_path / "graded.txt"
    graded = [" ".join([*line.split()[:3], str(row % 4)]) for row, line in enumerate(rows)]
    source.write_text("\n".join(graded))
    slugs = iter("abcdef")

    def imported(min_rel: int | None) -> Campaign:
        made = import_any(source=source, slug=next(slugs), catalog=world.catalog, min_rel=min_rel)
        return made.campaigns[0]

    campaign = imported(2)
    assert campaign.grades.split("\n") == ["Grade 0", "Grade 1", "Grade 2", "Grade 3"]
    expected = read_qrels(source, min_rel=2)
    table = labels(campaign)
    assert table.grades is not None
    assert expected.grades is not None
    assert sorted(table.grades) == sorted(expected.grades)
    assert int(table.is_similar.sum()) == int(expected.labels.sum())
    with pytest.raises(InputError, match=r"graded\.txt, line 3: .*of grades"):
        imported(None)
    source.write_text(source.read_text().replace(" 3\n", " 5\n", 1))
    with pytest.raises(ReleaseError, match=r"graded\.txt: grade 5; .* from 0 to 4"):
        imported(2)
    with pytest.raises(ReleaseError, match="for files of labels"):
        import_any(source=archive_path(release), slug="r", catalog=world.catalog, min_rel=2)
    assert Campaign.objects.filter(slug__in="abcdefr").count() == 1


def test_a_wild_vsd_task_comes_in_and_leaves_again(world: World, tmp_path: Path) -> None:
    images = [
        {"id": image.product_id, "path": f"views of/{row}.png", "phase": "gallery"}
        for row, image in enumerate(world.images)
    ]
    asking = [{"id": f"wild{n}", "path": f"street/{n}.jpg", "phase": "query"} for n in range(2)]
    labels = [("street/0.jpg", "views of/0.png", 1), ("street/1.jpg", "views of/3.png", 0)]
    task = make_vsd_task("wild", [*images, *asking], labels, gallery_phases=["gallery"])
    source = tmp_path / "task.zip"
    source.write_bytes(zip_vsd_task(task))
    catalog = Catalog.objects.create(slug="street", name="Street")

    def imported() -> Campaign:
        [campaign] = import_any(
            source=source, slug="again", catalog=world.catalog, query_catalog=catalog
        ).campaigns
        return campaign

    with pytest.raises(
        ReleaseError, match=r"2 images of task\.zip are not in the catalog “Street”"
    ):
        imported()
    assert not Campaign.objects.filter(slug="again").exists()
    for n, entry in enumerate(asking):
        image = Image.objects.create(
            catalog=catalog, sha256=f"{n}" * 64, product_id=entry["id"], width=1, height=1,
            n_bytes=1, image_format="JPEG", perceptual_hash="0" * 16,
        )  # fmt: skip
        SourceFile.objects.create(catalog=catalog, image=image, path=entry["path"])
    out = tmp_path / "again.zip"
    out.write_bytes(b"".join(export_pieces(imported(), "vsd-task")))
    again = read_vsd_task(out)
    assert again.gallery_phases == ("gallery",)
    assert list(again.qrels()) == list(task.qrels())
    assert (set(again.gallery()), set(again.queries())) == (
        set(task.gallery()),
        set(task.queries()),
    )
    assert again.products == task.products


def test_a_damaged_release_is_not_imported(release: Release, world: World, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(files_folder(release), tmp_path / "copy"))
    path = copied / "data/judgements.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ReleaseError, match=r"judgements\.parquet"):
        import_any(source=copied, slug="again", catalog=world.catalog)
    assert not Campaign.objects.filter(slug="again").exists()


def test_missing_images_are_named(release: Release, world: World) -> None:
    world.catalog.images.filter(pk=world.images[0].pk).update(sha256="f" * 64)
    with pytest.raises(ReleaseError, match="not in the catalog by SHA-256"):
        import_any(source=archive_path(release), slug="again", catalog=world.catalog)
