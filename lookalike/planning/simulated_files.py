"""A simulated campaign as the files that every other command reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from lookalike.core.errors import Refused
from lookalike.io.writers import write_csv
from lookalike.planning.simulator import SimulatedCampaign

PAIR = ("query", "candidate")


def write_campaign(campaign: SimulatedCampaign, folder: Path) -> list[Path]:
    """Write a campaign's files and return their paths.

    `proposals.csv`, `votes.csv`, `qrels.csv` (majorities), `truth.csv` (labels without errors),
    `families.csv` where there are ties, and `runs/` with a run for each model.

    Args:
        campaign: to write.
        folder: a new or empty one.

    Raises:
        Refused: the folder holds something.
        OSError: a file cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Refused("", f"{folder} is not empty: a campaign is written to a folder of its own")
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    pool, world = campaign.pool, campaign.world
    queries = [f"q{q + 1:05d}" for q in range(pool.n_queries)]
    candidates = [f"c{c + 1:05d}" for c in range(world.n_images)]
    pairs = [
        (queries[q], f"{queries[q]}-{candidates[c]}")
        for q, c in zip(pool.queries.tolist(), campaign.candidates.tolist(), strict=True)
    ]
    proposed = [
        (*pairs[i], name, rank)
        for name, ranks in zip(pool.models, pool.ranks.tolist(), strict=True)
        for i, rank in enumerate(ranks)
        if 0 < rank <= pool.depth
    ]
    votes = (
        (*pair, f"judge-{j + 1}", int(vote))
        for pair, row in zip(pairs, campaign.votes.tolist(), strict=True)
        for j, vote in enumerate(row)
    )
    written = [
        _write(folder / "proposals.csv", proposed, (*PAIR, "model", "rank")),
        _write(folder / "votes.csv", votes, (*PAIR, "annotator", "value")),
        _write(folder / "qrels.csv", _labelled(pairs, campaign.labels), (*PAIR, "label")),
        _write(folder / "truth.csv", _labelled(pairs, campaign.truth), (*PAIR, "label")),
    ]
    if world.families:
        rows = list(world.families.items())
        written.append(_write(folder / "families.csv", rows, ("model", "family")))
    for name, scores in zip(pool.models, campaign.scores, strict=True):
        rows_of_run = (
            (query, f"{query}-{candidate}", score)
            for query, row in zip(queries, scores.tolist(), strict=True)
            for candidate, score in zip(candidates, row, strict=True)
        )
        written.append(_write(folder / f"runs/{name}.csv", rows_of_run, (*PAIR, "score")))
    return written


def _labelled(pairs: list[tuple[str, str]], labels: np.ndarray) -> Iterable[Sequence[object]]:
    return [(*pair, int(label)) for pair, label in zip(pairs, labels.tolist(), strict=True)]


def _write(path: Path, rows: Iterable[Sequence[object]], header: Sequence[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        write_csv(out, rows, header)
    return path
