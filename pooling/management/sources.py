"""What the commands share that take sources: models, and files given as NAME=FILE."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from pooling.models import Pool, PoolSource
from pooling.pools.services import source_job
from pooling.pools.unsettled import has_open_job
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import Arriving, Upload
from pooling.sources.upload_services import keep_embeddings, keep_ranking

MODELS_HELP = (
    "model specs, presets, learned:SPACE#NOTION, random:SEED or plugin:DOTTED.PATH, with commas "
    "between them; a depth of its own goes behind a model: “random:1 k=20”"
)


def add_upload_arguments(parser: ArgumentParser) -> None:
    """Declare --embeddings and --ranking."""
    parser.add_argument(
        "--embeddings",
        action="append",
        default=[],
        metavar="NAME=FILE[,IDS]",
        help="vectors as .npz, parquet, or .npy with a text file of ids; may be repeated",
    )
    parser.add_argument(
        "--ranking",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="a TREC run, or CSV or parquet with query, candidate and score; may be repeated",
    )


def uploads_in(options: Mapping[str, Any], task: RankingTask) -> list[Upload]:
    """Check and keep the files that a command line names.

    Raises:
        Refused: the file, row and reason.
    """
    kept = []
    for text in options["embeddings"]:
        name, file = _named(text, "embeddings")
        path, _, ids = file.partition(",")
        kept.append(
            keep_embeddings(
                name=name,
                file=_on_disk(path, "embeddings"),
                ids=_on_disk(ids, "embeddings") if ids else None,
                task=task,
            )
        )
    for text in options["ranking"]:
        name, file = _named(text, "ranking")
        kept.append(keep_ranking(name=name, file=_on_disk(file, "ranking"), task=task))
    return kept


def _named(text: str, field: str) -> tuple[str, str]:
    name, equals, file = text.partition("=")
    if not (name and equals and file):
        raise Refused(field, f"{text!r} is not NAME=FILE.")
    return name.strip(), file.strip()


def _on_disk(path: str, field: str) -> Arriving:
    try:
        return Arriving.from_disk(Path(path))
    except InputError as problem:
        raise Refused(field, str(problem)) from problem


def is_left(source: PoolSource) -> bool:
    """Whether a source has something to do, or left an open job behind when it was killed."""
    return source.done_at is None or source.wanted_k is not None or has_open_job(source)


def work_on(pool: Pool, source: PoolSource) -> dict[str, Any]:
    """Return what `ByModelCommand.try_model` needs to let a source propose."""
    return {
        "spec": source.spec,
        "service": "pooling.sources.fill.run_source",
        **source_job(source),
        "title": f"{source.spec} for {pool}",
    }


def difference_lines(outcome: Mapping[str, Any], n_opened: int) -> Sequence[str]:
    """Return in words what a change made of a pool."""
    if not outcome:
        return ["Nothing was proposed."]
    lines = [
        f"{outcome['n_pairs_before']:,} pairs before, {outcome['n_pairs_after']:,} now: "
        f"{outcome['n_new']:,} new by {outcome['n_proposals']:,} proposals",
        f"{outcome['n_known']:,} of the proposed pairs were in the pool, "
        f"{outcome['n_judged']:,} of them judged",
    ]
    lines += [
        f"  {row['spec']}: {row['n_new']:,} new, {row['n_alone']:,} by it alone, "
        f"{row['n_known']:,} known"
        for row in outcome["by_source"]
    ]
    return [*lines, f"{n_opened:,} new questions opened in campaigns"]
