"""Strata of a release: campaign by campaign, with the chances of the draw; the list for xinfAP."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from lookalike.release.format.folder import Folder, write_json
from lookalike.release.strata import compute_strata
from lookalike.release.verify import verify
from releases.storage import files_folder
from tests.releases.two_campaigns import STRATUM, add_campaign, draw_below, freeze_both, strata
from tests.worlds import World, freeze_now, request_for


def test_strata_of_one_name_are_counted_by_campaign(world: World) -> None:
    other = add_campaign(world)
    draw_below(world.campaign, 40)
    draw_below(other, 25)
    folder = files_folder(freeze_both(world))
    n, m = world.campaign.n_questions - 1, other.n_questions - 1
    assert strata(folder) == [
        (other.slug, "pool", m, m, 1.0),
        (other.slug, STRATUM, 25, 1, 0.04),
        (world.campaign.slug, "pool", n, n, 1.0),
        (world.campaign.slug, STRATUM, 40, 1, 0.025),
    ]
    assert verify(folder).findings == ()


def test_without_samples_all_that_is_outside_both_pools_is_counted_once(world: World) -> None:
    other = add_campaign(world)
    folder = files_folder(freeze_both(world))
    n, m = world.campaign.n_questions, other.n_questions
    n_queries = world.pool.queries.count() + 6
    assert strata(folder)[-1] == ("", "outside the pool", n_queries * 29 - n - m, 0, 0.0)


def test_where_labels_are_hidden_the_chance_is_that_of_the_draw(
    world: World, tmp_path: Path
) -> None:
    """As tables say it, whatever a freeze may hide: the public part's size is not known."""
    question = draw_below(world.campaign, 40)
    folder = files_folder(freeze_now(request_for(world)))
    query = question.query.sha256[:16]
    for split, chance in (("public", 0.025), ("hidden", None)):
        made = tmp_path / split
        (made / "data").mkdir(parents=True)
        for name in ("images", "pairs", "labels"):
            (made / f"data/{name}.parquet").symlink_to(folder / f"data/{name}.parquet")
        table = pq.read_table(folder / "data/queries.parquet")
        splits = [split if name == query else "public" for name in table["query_id"].to_pylist()]
        at = table.schema.get_field_index("split")
        pq.write_table(
            table.set_column(at, table.schema.field("split"), [splits]),
            made / "data/queries.parquet",
        )
        info = json.loads((folder / "release.json").read_text())
        write_json(made / "release.json", {**info, "hidden_percent": 10})
        [row] = [one for one in compute_strata(Folder(made)) if one["stratum"] == STRATUM]
        n = 0 if split == "hidden" else 1
        assert (row["N"], row["n"], row["inclusion_probability"]) == (None, n, chance)


def test_the_list_for_xinfap_holds_the_pool_alone(world: World) -> None:
    question = draw_below(world.campaign, 40)
    folder = files_folder(freeze_now(request_for(world)))
    lines = [line.split() for line in (folder / "trec/qrels.xinfap.txt").read_text().splitlines()]
    assert len(lines) == world.campaign.n_questions - 1
    assert {line[3] for line in lines} == {"0"}
    queries = pq.read_table(folder / "data/queries.parquet").to_pylist()
    topic = {row["query_id"]: str(row["position"] + 1) for row in queries}
    drawn = (topic[question.query.sha256[:16]], question.candidate.sha256[:16])
    assert drawn not in {(line[0], line[2]) for line in lines}
