"""Every way from a frozen release to a number, held to the same one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from django.test import Client

from accounts.models import Role, User
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.cli.main import main
from lookalike.metrics.leaderboard import Leaderboard
from lookalike.release.opened import Release as OpenRelease
from lookalike.release.opened import open_release
from releases.models import Release
from releases.storage import archive_path, files_folder
from tests.lookalike.release.scored_by_hand import (
    equal_outsider_auc,
    measures,
    ranked,
    run_of,
    tied,
)

THEIRS = {
    "P@5": ir_measures.P @ 5,
    "P_all@5": ir_measures.P @ 5,
    "Success@1": ir_measures.Success @ 1,
    "Success@5": ir_measures.Success @ 5,
    "MRR@5": ir_measures.RR @ 5,
    "AP'": ir_measures.AP(judged_only=True),
}


def check_every_way(
    release: Release,
    specs: Sequence[str],
    *,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    cache: Path,
) -> None:
    """Hold command, Python, page, API file, scikit-learn and ir_measures to one another (1e-9).

    Args:
        release: with pictures, of one evaluated campaign.
        specs: models of its board that the command embeds anew.
        client: signed in as a researcher here.
        capsys: what commands print.
        cache: an empty folder for vectors.
    """
    client.force_login(User.objects.create_user("rhea", role=Role.RESEARCHER))
    folder, source = files_folder(release), str(archive_path(release))
    opened = open_release(folder)
    slug, version = release.slug, release.version
    board = client.get(f"/releases/{slug}/{version}/").context["board"]
    sent = client.get(f"/api/v1/releases/{slug}/{version}/files/results.json")
    served = {one["id"]: one["measures"] for one in json.loads(sent.getvalue())["models"]}
    words = ["evaluate", *specs, "--release", source, "--cache", str(cache)]
    evaluated = dict(_printed(capsys, *words))
    names = {model["id"]: model["name"] for model in opened.scored}
    assert evaluated.keys() == set(specs) <= set(names.values())
    for model in release.results["models"]:
        name, path = names[model["id"]], folder / f"runs/{model['id']}.parquet"
        [scored] = opened.score(path)
        [(_, printed)] = _printed(capsys, "score", "--release", source, "--run", str(path))
        [line] = [line for line in board.lines if line.model.name == name]
        page = {c.name: cell.value for c, cell in zip(board.columns, line.cells, strict=True)}
        run = run_of(path)
        by_hand, theirs = measures(folder, run), _by_ir_measures(opened, model)
        as_outsider = equal_outsider_auc(folder, model["id"], run)
        assert page.pop(EQUAL_OUTSIDER) == pytest.approx(as_outsider, abs=1e-9), name
        if name in evaluated:
            told = evaluated[name][EQUAL_OUTSIDER]["value"]
            assert told == pytest.approx(as_outsider, abs=1e-9), name
        drawn = {m for m in model["measures"] if m.endswith(("_random", "_band"))}
        assert by_hand.keys() == model["measures"].keys() - drawn  # those: test_negatives.py
        assert {"P@5", "P_all@5"} <= page.keys() <= model["measures"].keys()
        for measure, entry in model["measures"].items():
            ways = {
                "Python": scored.outcomes[measure].value,
                "command": printed[measure]["value"],
                "API": served[model["id"]][measure]["value"],
            }
            ways |= {"scikit-learn": by_hand[measure]} if measure in by_hand else {}
            ways |= {"page": page[measure]} if measure in page else {}
            ways |= {"ir_measures": theirs[measure]} if measure in theirs else {}
            ways |= {"evaluate": evaluated[name][measure]["value"]} if name in evaluated else {}
            wanted = dict.fromkeys(ways, pytest.approx(entry["value"], abs=1e-9))
            assert ways == wanted, (name, measure)
    campaign = release.info["campaigns"][0]["slug"]
    by = board.columns[board.sorted_at].name
    of_campaign = client.get(f"/results/{campaign}/?by={by}").context["board"]
    ours, others = shown_of(board), shown_of(of_campaign)
    assert ours["order"] == others["order"]
    of_both = {"vsd_hr@5", "Success@5", "MRR@5", "P@5", "AP'", "macro_roc_auc", EQUAL_OUTSIDER}
    assert ours.keys() & others.keys() >= of_both
    for column in ours.keys() & others.keys():
        assert ours[column] == others[column], column


def _printed(
    capsys: pytest.CaptureFixture[str], *words: str
) -> list[tuple[str, dict[str, dict[str, float]]]]:
    """What a command prints of each run: its name and measures."""
    assert main([*words, "--json"]) == 0
    return [(run["name"], run["measures"]) for run in json.loads(capsys.readouterr().out)["runs"]]


def _by_ir_measures(release: OpenRelease, model: dict[str, Any]) -> dict[str, float]:
    """Means as the board takes them: ir_measures counts queries without a positive as 0.

    It compares scores in float32 and orders ties by falling name, so it gets the places of the
    lists. AP' takes ties as a group, which it does not, and is left out where judged images tie.
    """
    products, qrels = release.product_of, release.labels()
    labels = qrels.by_query()
    lists: dict[str, dict[str, float]] = {}
    has_ties = False
    by_query = release.run(model["id"]).by_query()
    for query, of in by_query.items():
        judged = [of[image] for image in labels.get(query, ())]
        has_ties |= len(set(tied(judged, by_query))) < len(judged)
        listed = {i: score for i, score in of.items() if products[i] != products[query]}
        others = ranked(listed, by_query)
        lists[query] = {image: float(-place) for place, image in enumerate(others)}
    means = ir_measures.calc_aggregate(THEIRS.values(), labels, lists)
    n_queries = {name: model["measures"][name]["n_queries"] for name in THEIRS}
    return {
        name: float(means[measure]) * len(labels) / n_queries[name]
        for name, measure in THEIRS.items()
        if not (has_ties and name == "AP'")
    }


def shown_of(board: Leaderboard) -> dict[str, object]:
    """What a table shows of each model by column: value, interval, n, letters; how order holds."""
    shown: dict[str, object] = {
        column.name: {
            line.model.name: (
                f"{cell.value:.4f} {cell.low:.3f} {cell.high:.3f}" if cell.low else cell.value,
                cell.n_queries,
                cell.letters,
                cell.is_best,
            )
            for line in board.lines
            for cell in [line.cells[at]]
        }
        for at, column in enumerate(board.columns)
    }
    return shown | {"order": [(line.model.name, line.kept) for line in board.lines]}
