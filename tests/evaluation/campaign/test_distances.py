"""Uploaded distances: taken where the form says so, warned of where it does not."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from evaluation.models import Run
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.runs.stored_runs import load_run
from evaluation.tasks import add_run
from jobs.models import Job
from tests.worlds import World, by_path, cosines, scores_csv


def distances_csv(world: World, path: Path) -> Path:
    """Every pair of images by rank and distance."""
    scores = cosines(world)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["query", "candidate", "rank", "score"])
        for q in range(30):
            others = [c for c in (-scores[q]).argsort().tolist() if c != q]
            for rank, c in enumerate(others, 1):
                distance = repr(1.0 - float(scores[q, c]))
                out.writerow([by_path(world, q), by_path(world, c), rank, distance])
    return path


def test_distances_are_taken_where_the_form_says_so_and_warned_of_where_not(
    judged_world: World, tmp_path: Path, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    address = f"/results/{judged_world.campaign.slug}/runs/"
    distances = distances_csv(judged_world, tmp_path / "d.csv").read_bytes()
    plain = scores_csv(judged_world, tmp_path / "s.csv").read_bytes()
    for name, content, fields in (
        ("plain", plain, {}),
        ("turned", distances, {"lower_is_better": "on"}),
        ("reversed", distances, {}),
    ):
        given = {"name": name, "missing": "error", "file": SimpleUploadedFile("run.csv", content)}
        assert client.post(address, given | fields).status_code == 302
        job = Job.objects.filter(task=ADD_RUN_TASK).latest("id")
        add_run(str(job.uid))
    runs = {run.name: run for run in Run.objects.all()}
    assert {name: len(run.coverage["notes"]) for name, run in runs.items()} == {
        "plain": 0,
        "turned": 0,
        "reversed": 1,
    }
    turned, same = (load_run(runs[name].sha256, name).by_query() for name in ("turned", "plain"))
    for query, row in same.items():
        assert {c: 1 + s for c, s in turned[query].items()} == pytest.approx(row)
    assert "WARNING" in client.get(address).content.decode()
