"""`lookalike learn score-composed`: an image and a text together answer what is asked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lookalike.cli.learn.inputs import Reader, add_reader, reader
from lookalike.cli.learn.template_rows import template_rows
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.conditional.formats.cirr import read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import TASKS
from lookalike.conditional.template_scores import (
    baseline_queries,
    candidate_scores,
    score_templates,
)
from lookalike.core.arrays import Float32s, Floats
from lookalike.images.metadata import MetadataError, read_metadata
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.named_images import vectors_by_name
from lookalike.learning.compose.combiner import TrainedCombiner
from lookalike.learning.compose.retrieval import (
    Composed,
    changed_states,
    named_targets,
    score_composed,
)
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Answer templates by a reference and the text of its condition: image only, text only, half "
    "of each, and a Combiner if there is one. FILE is JSON of GeneCIS; with --split captions of "
    "CIRR, looked for among all images of the split; with --states a CSV with the columns path, "
    "class and state, asked as MIT-States is. Both of these print Recall@1, 5 and 10. Needs the "
    "extra `models`."
)
EXAMPLE = "lookalike learn score-composed focus_object.json --vectors v.npz --space space/ --combiner c.safetensors"  # noqa: E501
Queries = Mapping[str, Floats | Float32s]
BASELINES = {"image only": "image", "text only": "text", "image + text": "image_text"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("file", type="input", metavar="FILE", help="what is asked")
    parser.add_argument(
        "--task", choices=[task.value for task in TASKS], help="by default told by the file's name"
    )
    add_vectors(parser)
    add_reader(parser)
    parser.add_argument("--combiner", type=Path, metavar="FILE", help="of learn combiner")
    parser.add_argument(
        "--text", metavar="TEXT", help="what is read for a condition {}; default: the Combiner's"
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--split", type="input", metavar="FILE", help="of CIRR: names and paths")
    group.add_argument("--states", action="store_true", help="ask as MIT-States is asked")


def run(arguments: argparse.Namespace) -> Report:
    """Score the answers.

    Raises:
        InputError, Refused: files that cannot be used, or a Combiner of another text space.
    """
    reads = reader(arguments)
    combiner = TrainedCombiner.load(arguments.combiner) if arguments.combiner else None
    if combiner is not None and combiner.card.get("reader") != reads.fingerprint:
        raise InputError(f"{arguments.combiner} was trained with other texts than are read here")
    made = Maker(reads, combiner, arguments.text)
    if arguments.split:
        return _among_all(arguments, *_cirr(arguments), made)
    if arguments.states:
        return _among_all(arguments, *_states(arguments), made)
    return _templates(arguments, made)


class Maker:
    """Makes queries of references and conditions, one for each way."""

    def __init__(self, reads: Reader, combiner: TrainedCombiner | None, text: str | None) -> None:
        self._reads, self._combiner = reads, combiner
        said = combiner.card["text"] if combiner is not None else "{}"
        self._text = said if text is None else text

    def images(self, vectors: Float32s) -> Float32s:
        """Return vectors where texts are."""
        space = self._reads.space
        return vectors if space is None else space.images.apply(vectors)

    def queries(self, references: Float32s, conditions: Sequence[str]) -> Queries:
        """Return queries by the way they are made, each of shape (n, d)."""
        distinct, at = np.unique(np.array(conditions), return_inverse=True)
        texts = self._reads.read([self._text.replace("{}", one) for one in distinct.tolist()])[at]
        found: dict[str, Floats | Float32s] = {
            name: baseline_queries(references, texts, of)  # type: ignore[arg-type]
            for name, of in BASELINES.items()
        }
        if self._combiner is not None:
            found["Combiner"] = self._combiner.queries(references, texts)
        return found


def _templates(arguments: argparse.Namespace, made: Maker) -> Report:
    found = template_rows(arguments.file, arguments.task, *read_one(arguments))
    vectors = made.images(found.vectors)
    references = vectors[[row[0] for row in found.rows]]
    candidates = [np.array(row[1:]) for row in found.rows]
    queries = made.queries(references, [one.condition for one in found.templates])
    answers = [len(one.gallery) for one in found.templates]
    tasks = [one.task for one in found.templates]
    rows: list[tuple[str | int | float, ...]] = []
    for name, of in queries.items():
        score = score_templates(tasks, candidate_scores(of, vectors, candidates), answers)
        for task, recall in score.by_task.items():
            rows.append((task.value, name, score.n_templates[task], *recall.values()))
    rows += [(task.value, "chance", score.n_templates[task], *of.values())
             for task, of in score.chance.items()]  # fmt: skip
    return _report(arguments, rows, (1, 2, 3))


def _cirr(arguments: argparse.Namespace) -> tuple[Float32s, Composed]:
    entries = read_cirr(arguments.file)
    if entries.malformed:
        first = entries.malformed[0]
        raise InputError(f"{arguments.file}: entry {first.index}: {first.reason}")
    names = list(read_cirr_split(arguments.split))
    row_of = {name: row for row, name in enumerate(names)}
    asked = named_targets(
        [(t.reference.image, t.target.image, t.condition) for t in entries.templates], row_of
    )
    return _vectors_of(arguments, names), asked


def _states(arguments: argparse.Namespace) -> tuple[Float32s, Composed]:
    path = Path(arguments.file)
    try:
        known = read_metadata(path.read_bytes(), path.name, with_products=False).rows
    except MetadataError as problem:
        raise InputError(str(problem)) from problem
    rows, asked = changed_states(
        [row.attributes.get("class", "") for row in known.values()],
        [row.attributes.get("state", "") for row in known.values()],
    )
    names = list(known)
    return _vectors_of(arguments, [names[row] for row in rows]), asked


def _vectors_of(arguments: argparse.Namespace, names: Sequence[str]) -> Float32s:
    return vectors_by_name(*read_one(arguments), names)


def _among_all(
    arguments: argparse.Namespace, vectors: Float32s, asked: Composed, made: Maker
) -> Report:
    vectors = made.images(vectors)
    queries = made.queries(vectors[asked.references], asked.conditions)
    rows: list[tuple[str | int | float, ...]] = []
    for name, of in queries.items():
        recall = score_composed(of, vectors, asked)
        rows.append(("among all", name, len(asked.conditions), *recall.values()))
    return _report(arguments, rows, tuple(recall))


def _report(
    arguments: argparse.Namespace,
    rows: Sequence[tuple[str | int | float, ...]],
    cutoffs: Sequence[int],
) -> Report:
    header = ("asked", "answered by", "queries", *(f"R@{k}" for k in cutoffs))
    shown = [(*map(str, row[:2]), f"{row[2]:,}", *(TEXT.number(float(v), 3) for v in row[3:]))
             for row in rows]  # fmt: skip
    title = f"{arguments.file}: answered by an image and a text"
    return Report(
        title=title,
        text="\n".join([title, *table([header, *shown]), ""]),
        data={"recall": [dict(zip(header, row, strict=True)) for row in rows]},
        table=Table(header, rows),
    )
