"""The labels and answers of a campaign as files, in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from annotation.models import Campaign
from annotation.queries.labels import LabelTable, labels
from catalog.models import Image
from evaluation.answer_exports import campaign_answers, first_paths
from evaluation.below_pool.pairs import drawn_beside_pool, without_pairs
from evaluation.vsd_task import campaign_as_vsd_task
from lookalike.io.errors import InputError
from lookalike.io.fiftyone import fiftyone_pieces
from lookalike.io.label_studio_export import label_studio_pieces
from lookalike.io.vsd_task import zip_vsd_task
from lookalike.io.writers import csv_pieces, trec_qrels_pieces, vsd_pieces

CSV_HEADER = (
    *("query", "candidate", "label", "n_similar", "n_different", "is_ruled"),
    *("query_sha256", "candidate_sha256", "judges"),
)


@dataclass(frozen=True)
class ExportFormat:
    """A file format of labels.

    Attributes:
        name: as the command and the URL call it.
        title: for people.
        suffix: of the file's name.
        content_type: for downloads.
        about: what it is good for, and how it names images.
        pieces: yields its bytes.
        what: it holds, as its name says it.
    """

    name: str
    title: str
    suffix: str
    content_type: str
    about: str
    pieces: Callable[[Campaign], Iterator[bytes]]
    what: str = "labels"


def _named(table: LabelTable) -> tuple[dict[int, str], dict[int, str]]:
    """Return the first path and the SHA-256 of every image in the table."""
    ids = np.unique(np.concatenate([table.query_ids, table.candidate_ids])).tolist()
    return first_paths(ids), dict(Image.objects.filter(pk__in=ids).values_list("pk", "sha256"))


def _decided(campaign: Campaign) -> LabelTable:
    table = without_pairs(labels(campaign), drawn_beside_pool(campaign))
    if not table.is_decided.any():
        raise InputError(f"no pair of “{campaign}” has a label yet")
    return table


def _triples(table: LabelTable, names: dict[int, str]) -> Iterator[tuple[str, str, int]]:
    for row in np.flatnonzero(table.is_decided).tolist():
        yield (
            names[int(table.query_ids[row])],
            names[int(table.candidate_ids[row])],
            int(table.is_similar[row]),
        )


def _grades(table: LabelTable, names: dict[int, str]) -> Iterator[tuple[str, str, int]]:
    """Yield the labels, where pairs are graded their grades."""
    values = table.is_similar if table.grades is None else table.grades
    for row in np.flatnonzero(table.is_decided).tolist():
        pair = table.query_ids[row], table.candidate_ids[row]
        yield (*(names[int(image)] for image in pair), int(values[row]))  # type: ignore[misc]


def _encoded(pieces: Iterator[str]) -> Iterator[bytes]:
    return (piece.encode() for piece in pieces)


def _vsd(campaign: Campaign) -> Iterator[bytes]:
    table = _decided(campaign)
    return _encoded(vsd_pieces(_triples(table, _named(table)[0])))


def _vsd_task(campaign: Campaign) -> Iterator[bytes]:
    table = _decided(campaign)
    rows = np.flatnonzero(table.is_decided)
    columns = (table.query_ids, table.candidate_ids, table.is_similar)
    labels = zip(*(column[rows].tolist() for column in columns), strict=True)
    return iter([zip_vsd_task(campaign_as_vsd_task(campaign, labels))])


def _qrels(campaign: Campaign) -> Iterator[bytes]:
    table = _decided(campaign)
    return _encoded(
        trec_qrels_pieces(_grades(table, _named(table)[1]), graded=table.grades is not None)
    )


def _label_studio(campaign: Campaign, *, with_comments: bool = False) -> Iterator[bytes]:
    answers = campaign_answers(campaign, with_comments=with_comments)
    return _encoded(label_studio_pieces(answers))


def _fiftyone(campaign: Campaign, *, with_comments: bool = False) -> Iterator[bytes]:
    answers = campaign_answers(campaign, with_comments=with_comments)
    return _encoded(fiftyone_pieces(answers))


def _csv(campaign: Campaign) -> Iterator[bytes]:
    table = _decided(campaign)
    paths, hashes = _named(table)
    judges = "simulated" if campaign.is_simulated else "people"
    grades = table.grades
    notion = (campaign.notion,) if campaign.notion else ()
    more = (*(("notion",) if notion else ()), *(() if grades is None else ("grade",)))
    rows = (
        (
            paths[int(table.query_ids[row])],
            paths[int(table.candidate_ids[row])],
            int(table.is_similar[row]) if table.is_decided[row] else "",
            int(table.n_similar[row]),
            int(table.n_different[row]),
            int(table.is_ruled[row]),
            hashes[int(table.query_ids[row])],
            hashes[int(table.candidate_ids[row])],
            judges,
            *notion,
            *(() if grades is None else (int(grades[row]) if table.is_decided[row] else "",)),
        )
        for row in range(len(table))
    )
    return _encoded(csv_pieces(rows, (*CSV_HEADER, *more)))


FORMATS = {
    each.name: each
    for each in (
        ExportFormat(
            "vsd", "VSD JSON", "json", "application/json",
            "Annotations as the VSD benchmark reads them; images by path.", _vsd,
        ),
        ExportFormat(
            "vsd-task", "VSD task", "zip", "application/zip",
            "The labels with all images, products, queries and what is ranked, as files of a task "
            "of the VSD benchmark; images by path.", _vsd_task, "vsd-task",
        ),
        ExportFormat(
            "csv", "CSV", "csv", "text/csv; charset=utf-8",
            "Every judged pair with its votes, undecided ones with an empty label; "
            "images by path and SHA-256.", _csv,
        ),
        ExportFormat(
            "qrels", "TREC qrels", "qrels", "text/plain; charset=utf-8",
            "For trec_eval, ir_measures and pytrec_eval; images by SHA-256; grades where pairs are "
            "graded.", _qrels,
        ),
        ExportFormat(
            "label-studio", "Label Studio", "json", "application/json",
            "Tasks of two pictures, each judge’s answer as an annotation, with time and skips; "
            "images by path, from local file storage.", _label_studio, "label-studio",
        ),
        ExportFormat(
            "fiftyone", "FiftyOne", "json", "application/json",
            "Samples of the candidates with the query and each judge’s answer, with time and "
            "skips; images by path.", _fiftyone, "fiftyone",
        ),
    )
}  # fmt: skip


WITH_ANSWERS = {"label-studio": _label_studio, "fiftyone": _fiftyone}


def export_pieces(campaign: Campaign, name: str, *, with_comments: bool = False) -> Iterator[bytes]:
    """Yield the bytes of an export; the first piece is made at once, so errors come early.

    Args:
        campaign: whose labels or answers.
        name: of the format.
        with_comments: also what judges wrote, which may tell who they are; answers alone.

    Raises:
        InputError: an unknown format, one without comments, or no label yet.
    """
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; known: {', '.join(FORMATS)}")
    if with_comments and name not in WITH_ANSWERS:
        raise InputError(f"only {' and '.join(WITH_ANSWERS)} have comments; {name} has labels")
    if with_comments:
        pieces = WITH_ANSWERS[name](campaign, with_comments=True)
    else:
        pieces = FORMATS[name].pieces(campaign)
    return chain([next(pieces)], pieces)


def file_name(campaign: Campaign, name: str) -> str:
    """Return what a download is called; simulated judgements show in it."""
    mark = "-simulated" if campaign.is_simulated else ""
    return f"{campaign.slug}{mark}-{FORMATS[name].what}.{FORMATS[name].suffix}"
