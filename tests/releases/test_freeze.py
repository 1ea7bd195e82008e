"""Freezing: what is in the folder, twice the same bytes, and nobody's name."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from annotation.models import Campaign, Question
from annotation.queries.labels import labels
from evaluation.models import Sample, SampledPair
from evaluation.results.assessment import assess
from jobs.models import Job
from jobs.services import JobError, JobProgress, run_here
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.release.errors import ReleaseError
from lookalike.release.format.archive import opened
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import TABLES
from lookalike.release.format.manifest import paths_in
from lookalike.release.verify import verify
from pooling.models import Pool, Proposal
from releases.freeze.freeze import _secret
from releases.freeze.requests import FreezeRequest
from releases.importing.release import import_any
from releases.models import Release
from releases.services import freeze, freeze_job
from releases.storage import archive_path, building_folder, files_folder, releases_folder
from tests.releases.pictures import give_pictures
from tests.worlds import World, build_now, freeze_now, request_for


def test_the_release_holds_what_the_database_holds(folder: Path, world: World) -> None:
    table = pq.read_table(folder / "data/labels.parquet")
    stored = labels(world.campaign)
    assert table.num_rows == len(stored)
    assert table["n_similar"].to_pylist().count(2) == int((stored.n_similar == 2).sum())
    names = {image.pk: image.sha256[:16] for image in world.images}
    expected = {(names[row.query_id], names[row.candidate_id]): row.label for row in stored}
    columns = (table[name].to_pylist() for name in ("query_id", "image_id", "label"))
    assert {(q, c): bool(label) for q, c, label in zip(*columns, strict=True)} == expected


def test_the_scores_are_those_of_the_results_pages(folder: Path, world: World) -> None:
    found = assess(world.campaign, n_bootstraps=0)
    expected = {model["name"]: model["measures"] for model in found.summary.as_json()["models"]}
    names = {one["id"]: one["name"] for one in json.loads((folder / "models.json").read_text())}
    results = json.loads((folder / "results.json").read_text())
    assert len(results["models"]) == len(expected) == 3
    for model in results["models"]:
        for measure, value in model["measures"].items():
            shown = expected[names[model["id"]]][measure]["value"]
            assert value["value"] == pytest.approx(shown, abs=1e-9), measure


def test_two_freezes_of_the_same_state_are_byte_identical(world: World, tmp_path: Path) -> None:
    request = request_for(world)
    first = build_now(request, tmp_path / "first")
    second = build_now(request, tmp_path / "second")
    paths = sorted(paths_in(first))
    assert paths == sorted(paths_in(second))
    assert [p for p in paths if (first / p).read_bytes() != (second / p).read_bytes()] == []
    archive = "small-1.0.0.zip"
    assert (first.parent / archive).read_bytes() == (second.parent / archive).read_bytes()


def test_pseudonyms_differ_between_releases_and_keep_a_judge_together(world: World) -> None:
    """The dissenting judge, told by the answers, has the name that the version’s key gives."""
    people = {judge.pk for judge in world.judges}
    requests = [request_for(world, f"1.0.{patch}") for patch in range(2)]
    secrets = [_secret(request) for request in requests]
    assert secrets[0] != secrets[1]
    for request, secret in zip(requests, secrets, strict=True):
        table = pq.read_table(files_folder(freeze_now(request)) / "data/judgements.parquet")
        rows = zip(table["annotator"].to_pylist(), table["answer"].to_pylist(), strict=True)
        by_judge: dict[str, list[str]] = {}
        for name, answer in rows:
            by_judge.setdefault(name, []).append(answer)
        patterns = Counter(map(tuple, by_judge.values()))
        [odd] = [name for name, said in by_judge.items() if patterns[tuple(said)] == 1]
        assert odd == pseudonyms(people, secret)[world.judges[2].pk]


def test_another_key_gives_another_order_of_names() -> None:
    found = {pseudonyms({1, 2, 3}, f"key {number}".encode())[3] for number in range(8)}
    assert found == {"a01", "a02", "a03"}


def test_every_table_has_its_columns_its_key_and_its_order(folder: Path) -> None:
    for table in TABLES.values():
        held = pq.read_table(folder / table.path)
        assert held.schema.equals(table.schema), table.name
        keys = list(zip(*(held[name].to_pylist() for name in table.key), strict=True))
        assert len(set(keys)) == len(keys), table.name
        assert keys or table.name in {"rulings", "excluded"}, table.name


def test_a_version_is_never_frozen_twice(release: Release, world: World) -> None:
    before = archive_path(release).read_bytes()
    with pytest.raises(JobError, match="a release is never changed"):
        freeze_now(request_for(world))
    assert archive_path(release).read_bytes() == before


def test_images_that_are_given_away_stand_in_the_tables_for_mteb(world: World) -> None:
    give_pictures(world)
    folder = files_folder(freeze_now(request_for(world, with_images=True)))
    corpus = pq.read_table(folder / "mteb/corpus.parquet").to_pylist()
    assert len(corpus) == 30
    for row in corpus:
        assert (folder / row["image"]["path"]).read_bytes() == row["image"]["bytes"]
    queries = pq.read_table(folder / "mteb/queries.parquet")["id"].to_pylist()
    similar = {query for query, _, label in Folder(folder).qrels() if label}
    assert queries == sorted(similar)
    assert verify(folder).findings == ()


def test_a_failed_freeze_is_not_listed_and_leaves_nothing(world: World) -> None:
    world.campaign.tie_rule = "undecided"
    world.campaign.save()
    with pytest.raises(JobError, match="is missing; import"):
        freeze_now(request_for(world, with_images=True))
    assert Release.objects.count() == 0
    assert not list((releases_folder() / ".building").glob("*"))
    assert not (releases_folder() / "small").exists()


def test_an_attempt_clears_what_its_job_left_and_nothing_of_others(world: World) -> None:
    request = request_for(world)

    def attempt(progress: JobProgress) -> dict[str, Any]:
        job = progress.job
        other = Job(uid=uuid4(), n_attempts=1)
        job.n_attempts = 3
        job.save()
        dead, later = (
            building_folder(request, Job(uid=job.uid, n_attempts=n)) / "files" for n in (2, 4)
        )
        others = building_folder(request, other) / "files"
        for folder in (dead, later, others):
            folder.mkdir(parents=True)
        found = freeze(request, progress)
        assert [folder.exists() for folder in (dead, later, others)] == [False, True, True]
        assert not building_folder(request, job).exists()
        return found

    assert run_here(**freeze_job(request), work=attempt).result["version"] == "1.0.0"


def test_hidden_labels_are_in_no_file_of_the_release(world: World) -> None:
    release = freeze_now(request_for(world, hidden_percent=50))
    folder = files_folder(release)
    queries = pq.read_table(folder / "data/queries.parquet").to_pylist()
    hidden = {row["query_id"] for row in queries if row["split"] == "hidden"}
    assert len(hidden) == 4
    for name in ("judgements", "rulings", "labels", "excluded", "negatives", "results"):
        held = set(pq.read_table(folder / f"data/{name}.parquet")["query_id"].to_pylist())
        assert held.isdisjoint(hidden), name
    kept_back = pq.read_table(folder.parent / "hidden/data/judgements.parquet")
    assert set(kept_back["query_id"].to_pylist()) == hidden
    with opened(archive_path(release)) as unpacked:
        assert sorted(paths_in(unpacked)) == sorted(paths_in(folder))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "1.0"}, "no version"),
        ({"slug": "../x"}, "no short name"),
        ({"date": "soon"}, "no date"),
        ({"campaigns": ()}, "at least one campaign"),
        ({"hidden_percent": 95}, "Between 0 and 90"),
    ],
)
def test_a_bad_request_says_what_is_wrong(changes: dict[str, object], message: str) -> None:
    given: dict[str, object] = {
        "slug": "s", "title": "T", "version": "1.0.0", "campaigns": ("c",), "date": "2026-01-01"
    }  # fmt: skip
    with pytest.raises(ReleaseError, match=message):
        FreezeRequest(**{**given, **changes})  # type: ignore[arg-type]


def test_pairs_drawn_below_the_pool_are_labelled_but_models_are_not_compared_by_them(
    world: World,
) -> None:
    question = Question.objects.filter(campaign=world.campaign, kind="pair").order_by("pk")[0]
    sample = Sample.objects.create(
        campaign=world.campaign, aim="total", seed=3, sources={},
        n_pool_pairs=Question.objects.filter(campaign=world.campaign, kind="pair").count() - 1,
        strata=[{"name": "ranks 21-100", "n_pairs": 40, "n_drawn": 1}],
    )  # fmt: skip
    pair = {"query": question.query, "candidate": question.candidate}
    SampledPair.objects.create(sample=sample, stratum=0, inclusion=0.025, **pair)
    Proposal.objects.filter(**pair).delete()
    release = freeze_now(request_for(world))
    folder = files_folder(release)
    names = (question.query.sha256[:16], question.candidate.sha256[:16])
    labels = pq.read_table(folder / "data/labels.parquet").to_pylist()
    assert names in {(row["query_id"], row["image_id"]) for row in labels}
    compared = pq.read_table(folder / "data/qrels.parquet").to_pylist()
    assert names not in {(row["query-id"], row["corpus-id"]) for row in compared}
    strata = json.loads((folder / "strata.json").read_text())
    assert [(one["stratum"], one["N"], one["n"]) for one in strata] == [
        ("pool", len(labels) - 1, len(labels) - 1), ("ranks 21-100", 40, 1)
    ]  # fmt: skip
    [row] = [r for r in pq.read_table(folder / "data/pairs.parquet").to_pylist()
             if (r["query_id"], r["image_id"]) == names]  # fmt: skip
    assert (row["stratum"], row["inclusion"]) == ("ranks 21-100", 0.025)
    found = assess(world.campaign, n_bootstraps=0).summary.as_json()["models"]
    shown = {one["name"]: one["measures"]["AP'"]["value"] for one in found}
    mine = {one["name"]: one["id"] for one in release.entrants}
    values = {one["id"]: one["measures"]["AP'"]["value"] for one in release.results["models"]}
    for name, value in shown.items():
        assert values[mine[name]] == pytest.approx(value), name
    assert verify(folder).findings == ()


def test_the_order_of_the_pairs_is_part_of_the_recipe_and_comes_back(world: World) -> None:
    plain = files_folder(freeze_now(request_for(world)))
    assert "asking_order" not in (plain / "release.json").read_text()
    Campaign.objects.update(asking_order="phases")
    frozen = freeze_now(request_for(world, version="1.1.0"))
    info = json.loads((files_folder(frozen) / "release.json").read_text())
    assert [one["asking_order"] for one in info["campaigns"]] == ["phases"]
    for folder, said in ((plain, False), (files_folder(frozen), True)):
        assert ("came first, in phases" in (folder / "datasheet.md").read_text()) is said
        assert verify(folder).findings == ()
    import_any(source=archive_path(frozen), slug="again", catalog=world.catalog)
    assert Campaign.objects.get(slug="again").asking_order == "phases"


def test_rules_on_candidates_are_part_of_the_recipe(world: World) -> None:
    rule = {"same": ["colour"], "different": [], "one_of_alike": True}
    Pool.objects.update(candidate_rule=rule)
    folder = files_folder(freeze_now(request_for(world)))
    info = json.loads((folder / "release.json").read_text())
    assert [pool["candidate_rule"] for pool in info["pools"]] == [rule]
    assert 'Candidates: same ["colour"]' in (folder / "datasheet.md").read_text()
    assert verify(folder).findings == ()


def test_a_release_without_authors_is_cited_by_its_title_and_not_as_a_person(world: World) -> None:
    request = request_for(world, title="Coats, first panel", authors=())
    cited = (files_folder(freeze_now(request)) / "CITATION.cff").read_text()
    assert "Coats first panel" in cited
    assert "family-names" not in cited
