"""All of a release that follows from what was frozen: the same code writes and checks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.core.arrays import Bools
from lookalike.core.progress import SILENT, Progress
from lookalike.io.tables import Qrels
from lookalike.release.bias import release_findings
from lookalike.release.board import board_columns
from lookalike.release.conditional.sets import derive_sets
from lookalike.release.documents import DOCUMENTS, Facts
from lookalike.release.exports import text_files
from lookalike.release.format.folder import Folder, write_json
from lookalike.release.format.layout import FIRST_WITH_BOARD, NEGATIVES, TABLES, described_files
from lookalike.release.format.manifest import make_entry
from lookalike.release.format.tables import TableWriter, column_values, named, rows_of, write_table
from lookalike.release.labelling import (
    Votes,
    collect_votes,
    excluded_columns,
    label_columns,
    pair_keys,
)
from lookalike.release.mteb_tables import has_mteb, write_mteb
from lookalike.release.random_negatives import (
    check_band,
    draw_uniformly,
    negative_columns,
    own_product,
    pair_columns,
)
from lookalike.release.rounds import estimated_results, judged_share
from lookalike.release.scoring import compute_results, result_columns
from lookalike.release.statistics import compute_statistics
from lookalike.release.strata import compute_strata


def derive(
    folder: Path, *, hashes: Mapping[str, str] | None = None, progress: Progress = SILENT
) -> None:
    """Add everything that follows to a folder that holds what was frozen.

    Args:
        folder: with the primary tables, runs/, release.json, models.json, guidelines.json, for
            schema versions before `FIRST_WITH_BOARD` bias.json, and images/ if the tables are to
            hold the pictures.
        hashes: SHA-256 of each file that croissant.json names; those of the folder's own files
            if None.
        progress: shows the current step.

    Raises:
        ReleaseError: a table is missing or damaged, or no pair has a label.
    """
    progress.note("Counting votes")
    release = Folder(folder)
    _derive_tables(release)
    progress.note("Scoring models")
    if judged_share(release) < 1:
        results = estimated_results(release)
    else:
        results = compute_results(release, progress=progress)
    with TableWriter(folder / TABLES["results"].path, TABLES["results"].schema) as writer:
        for block in result_columns(results):
            writer.add(block)
    write_json(folder / "results.json", results.summary)
    if release.info["schema_version"] >= FIRST_WITH_BOARD:
        progress.note("Looking for bias")
        write_json(folder / "bias.json", release_findings(release))
        progress.note("Making the board")
        write_table(folder, "board", board_columns(release))
    conditional = derive_sets(release)
    progress.note("Writing lists")
    for path, pieces in (text_files(release) | conditional).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            file.writelines(pieces(release))
    if has_mteb(release.info):
        write_mteb(release)
    progress.note("Writing documents")
    if hashes is None:
        hashes = {path: make_entry(folder / path).sha256 for path in described_files(release.info)}
    for path, text in write_documents(release, hashes).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")


def _derive_tables(release: Folder) -> None:
    """Write labels, exclusions, random negatives, statistics and strata, all but results."""
    out = release.path
    votes = write_labels(release)
    labels = release.table("labels")
    asked = release.table("pairs", ["query_id", "image_id"])
    uncompared = _uncompared(release, asked)
    hidden = release.hidden_queries
    public = np.array([query not in hidden for query in column_values(asked["query_id"])], np.bool_)
    write_table(
        out,
        "excluded",
        excluded_columns(
            votes,
            asked.filter(public),
            labels,
            {reason: holds[public] for reason, holds in uncompared.items()},
        ),
    )
    qrels = release.qrels()
    if NEGATIVES in release.info:
        check_band(release)
        write_table(out, "negatives", pair_columns(draw_uniformly(release, qrels)))
    else:
        write_table(out, "negatives", _old_negatives(release, qrels, asked))
    columns = {
        "query-id": named(qrels.query_ids, qrels.queries),
        "corpus-id": named(qrels.candidate_ids, qrels.candidates),
        "score": qrels.labels if qrels.grades is None else qrels.grades,
    }
    write_table(out, "qrels", columns)
    write_json(out / "statistics.json", compute_statistics(release, votes))
    write_json(out / "strata.json", compute_strata(release))


def write_labels(release: Folder) -> Votes:
    """Write the table labels, and return the votes that it counts."""
    votes = collect_votes(
        release.image_ids, release.table("judgements"), release.table("rulings"), release.scale
    )
    write_table(release.path, "labels", label_columns(votes, release.info["tie_rule"]))
    return votes


def _old_negatives(release: Folder, qrels: Qrels, asked: pa.Table) -> dict[str, Any]:
    """Return the random negatives as releases up to schema version 6 have them."""
    ids = release.image_ids
    images = release.table("images", ["image_id", "is_candidate"])
    order = np.argsort(np.array(images["image_id"].to_pylist()))
    proposed = release.table("pool", ["query_id", "image_id"])
    known = [pair_keys(ids, asked, "pairs"), pair_keys(ids, proposed, "pool")]
    return negative_columns(
        qrels,
        ids,
        is_candidate=np.asarray(images["is_candidate"].to_numpy(), np.bool_)[order],
        products=release.known_products,
        asked=np.concatenate(known),
        seed=release.info["seeds"]["negatives"],
    )


def _uncompared(release: Folder, asked: pa.Table) -> dict[str, Bools]:
    """Return which pairs put to the judges are not compared, by reason."""
    own = {"own_product": own_product(asked, release.products)}
    if release.info["schema_version"] < FIRST_WITH_BOARD:
        return own
    pairs = list(rows_of(asked, "query_id", "image_id"))
    itself = np.array([query == image for query, image in pairs], np.bool_)
    below = np.array([pair in release.below_pool for pair in pairs], np.bool_)
    return {"itself": itself, **own, "below_pool": below}


def write_documents(release: Folder, hashes: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every document by path."""
    facts = Facts.of(release, hashes)
    texts = {path: write(facts) for path, write in DOCUMENTS.items()}
    for guideline in facts.guidelines:
        name = f"guidelines/{guideline['campaign']}-v{guideline['version']}"
        texts[f"{name}.md"] = guideline["text"]
        for code, text in guideline.get("translations", {}).items():  # releases of before have none
            texts[f"{name}.{code}.md"] = text
    return texts
