"""A model that has learned captions of what it is asked is flagged wherever models are ranked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotation.models import Campaign
from catalog.models import EmbeddingSet
from catalog.vectors.projections import derive_set, store_projection
from evaluation.models import Result
from evaluation.results.leaderboard import leaderboard
from evaluation.results.stored import StoredResult
from lookalike.learning.projection import Layer, Layers
from releases.site.leaderboard import leaderboard as release_board
from releases.storage import files_folder
from tests.worlds import SPECS, build_world, close_world, freeze_now, judge_world, request_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_the_flag_stands_on_the_board_of_a_campaign_and_of_its_release():
    world = build_world()
    queries = [query.image for query in world.pool.queries.select_related("image")]
    parent = EmbeddingSet.objects.get(spec=SPECS[0])
    layers = Layers(6, (Layer.linear(np.eye(3, 6, dtype=np.float32)),), {"method": "test"})
    for head, n_seen in (("clean", 0), ("seen", 3)):
        projection = store_projection(
            slug="shop", head=head, name=head, layers=layers, parent=parent,
            seen_image_ids=[image.pk for image in queries[:n_seen]],
        )  # fmt: skip
        derive_set(parent=parent, projection=projection)
    Campaign.objects.filter(pk=world.campaign.pk).update(notion_model="learned:shop#seen")
    world.campaign.refresh_from_db()
    close_world(judge_world(world))

    board = leaderboard(StoredResult(Result.objects.get()))
    n = StoredResult(Result.objects.get()).summary.labels.n_queries
    notes = {line.model.name: line.model.notes for line in board.lines}
    assert notes["learned:shop#seen"] == [f"learned from 3 of {n} queries"]
    assert notes[SPECS[0]] == []
    assert "learned:shop#clean" not in notes  # nobody has asked for it

    families = {one.name: one.family for one in StoredResult(Result.objects.get()).summary.models}
    assert families["learned:shop#seen"] == families[SPECS[0]] != families[SPECS[1]]

    release = freeze_now(request_for(world))
    models = json.loads((files_folder(release) / "models.json").read_text())
    assert "learned:shop#clean" not in {model["name"] for model in models}
    seen = {model["name"]: model.get("n_seen_queries", 0) for model in models}
    assert seen["learned:shop#seen"] == 3
    assert sum(seen.values()) == 3
    about = {model["name"]: model for model in models}
    assert about["learned:shop#seen"]["family"] == about[SPECS[0]]["family"]
    assert about["learned:shop#seen"]["badge"] == "sibling"  # its parent brought its pairs
    shown = release_board(release, world.judges[0], [("P@5", "P@5")], "P@5", hidden=False)
    assert {tuple(line.model.notes) for line in shown.lines} == {
        (), (f"learned from 3 of {len(queries)} queries",),
    }  # fmt: skip
