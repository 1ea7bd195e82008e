"""Measures that look deep are one number, whichever way leads to them (design page N1)."""

from __future__ import annotations

import csv
import json
from datetime import timedelta
from functools import partial
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role, User
from jobs.models import Job
from lookalike.backbones.embed import embed_images
from lookalike.backbones.loading import load_backbone
from lookalike.cli.main import main
from lookalike.metrics.embedding_runs import LIST_DEPTH
from lookalike.release.opened import Release as OpenRelease
from lookalike.release.opened import open_release
from lookalike.release.scoring import MEASURES
from releases.models import Release, Submission
from releases.site.queries import SCORE_TASK
from releases.storage import archive_path, files_folder
from releases.tasks import score
from tests.releases.demo_release import make_demo_release

DEEP = {
    "R@100": ir_measures.R @ 100,
    "R@200": ir_measures.R @ 200,
    "AP": ir_measures.AP,
    "nDCG": ir_measures.nDCG,
}
SPEC = "descriptor:lbp-texture"


@pytest.fixture
def demo(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Release:
    """A demo of more images than lists are deep, whose board has the deep measures, too."""
    monkeypatch.setattr("releases.freeze.freeze.MEASURES", (*MEASURES, *DEEP))
    return make_demo_release(monkeypatch, 110)


def test_vectors_list_command_site_and_ir_measures_agree_on_deep_measures(
    demo: Release, client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, archive = files_folder(demo), str(archive_path(demo))
    release = open_release(folder)
    vectors, queries = write_vectors(release, folder, tmp_path)
    n_images = len(release.image_ids)
    assert n_images > 200 > LIST_DEPTH
    ranked = str(tmp_path / "list.csv")
    assert main(["search", "--vectors", vectors, "--queries", queries,
                 "-k", str(n_images - 1), "--out", ranked]) == 0  # fmt: skip
    names = ["--measures", ",".join(DEEP)]
    ways = {
        "vectors": python(release, vectors),
        "list": python(release, ranked),
        "command": command(capsys, archive, *names, "--vectors", vectors),
        "command by list": command(capsys, archive, *names, "--run", ranked),
        "site": site(demo, client, Path(vectors)),
        "site by list": site(demo, client, Path(ranked)),
        "ir_measures": by_ir_measures(release, ranked),
    }
    for name in DEEP:
        value = ways["vectors"][name]
        assert value is not None
        assert 0 < value <= 1
        found = {way: of[name] for way, of in ways.items()}
        assert found == dict.fromkeys(found, pytest.approx(value, abs=1e-9)), name
    shipped = {model["name"]: model["id"] for model in release.scored}[SPEC]
    depth = release.run(shipped).depth
    assert depth == 100
    for run in (folder / f"runs/{shipped}.parquet", release.run(shipped)):
        [scored] = release.score(run, [*DEEP])
        assert scored.outcomes["R@100"].value == pytest.approx(ways["vectors"]["R@100"], abs=1e-9)
        for name in ("R@200", "AP", "nDCG"):
            assert np.isnan(scored.outcomes[name].value)
            assert "complete down to 100 ranks" in scored.outcomes[name].reason


def write_vectors(release: OpenRelease, folder: Path, target: Path) -> tuple[str, str]:
    """Write the vectors of the release's pictures, and those of its queries alone."""
    files = {image: folder / path for image, path in release.rows("images", "image_id", "file")}
    openers = [partial(path.open, "rb") for path in files.values()]
    rows = embed_images(load_backbone(SPEC), openers)
    ids = np.array([*files])
    is_query = np.isin(ids, release.judged.queries)
    np.savez(target / "all.npz", ids=ids, vectors=rows)
    np.savez(target / "queries.npz", ids=ids[is_query], vectors=rows[is_query])
    return str(target / "all.npz"), str(target / "queries.npz")


def python(release: OpenRelease, path: str) -> dict[str, float]:
    [scored] = release.score(path, [*DEEP])
    return {name: outcome.value for name, outcome in scored.outcomes.items()}


def command(capsys: pytest.CaptureFixture[str], archive: str, *words: str) -> dict[str, float]:
    capsys.readouterr()
    assert main(["score", "--release", archive, *words, "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)["runs"]
    return {name: measure["value"] for name, measure in run["measures"].items()}


def site(release: Release, client: Client, path: Path) -> dict[str, float]:
    """Upload a file on the release's page, and return what the site says of it."""
    owner, _ = User.objects.get_or_create(username="rhea", role=Role.RESEARCHER)
    client.force_login(owner)
    past = timezone.now() - timedelta(minutes=5)
    Job.objects.filter(task=SCORE_TASK).update(created_at=past)  # the pause between two uploads
    base = f"/releases/{release.slug}/{release.version}/"
    with path.open("rb") as file:
        sent = client.post(f"{base}submit/", {"name": path.stem, "file": file, "missing": "error"})
    assert sent.status_code == 302
    given = Submission.objects.get(name=path.stem)
    assert given.job is not None
    score(str(given.job.uid))
    board = client.get(base).context["board"]
    [line] = [line for line in board.lines if line.model.name == path.stem]
    shown = {c.name: cell.value for c, cell in zip(board.columns, line.cells, strict=True)}
    served = client.get(f"/api/v1/submissions/{given.uid}").json()["results"]
    values = {name: of["value"] for name, of in served.items()}
    assert shown["P@5"] == pytest.approx(values["P@5"], abs=1e-9)
    return values


def by_ir_measures(release: OpenRelease, path: str) -> dict[str, float]:
    """Score a list without the query's own product; queries without a positive are left out."""
    products = release.product_of
    run = [
        ir_measures.ScoredDoc(query, image, float(value))
        for query, image, value in rows_of(path)
        if products[query] != products[image]
    ]
    qrels = [ir_measures.Qrel(q, c, label) for q, c, label in release.labels()
             if products[q] != products[c]]  # fmt: skip
    has_positive = {one.query_id for one in qrels if one.relevance}
    found: dict[str, list[float]] = {name: [] for name in DEEP}
    for one in ir_measures.iter_calc(DEEP.values(), qrels, run):
        if one.query_id in has_positive:
            found[str(one.measure)].append(one.value)
    return {name: float(np.mean(values)) for name, values in found.items()}


def rows_of(path: str) -> list[tuple[str, str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [(row["query"], row["candidate"], row["score"]) for row in csv.DictReader(file)]
