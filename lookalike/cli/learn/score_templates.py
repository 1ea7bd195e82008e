"""`lookalike learn score-templates`: retrieval templates answered by notions."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.cli.learn.template_rows import template_rows
from lookalike.cli.output import Report
from lookalike.cli.vector_options import add_vectors, read_one
from lookalike.conditional.formats.genecis import TASKS
from lookalike.conditional.template_scores import CUTOFFS, TemplateScore
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.learning.conditions.composer import NotionComposer, score_composer
from lookalike.learning.notions.closed_forms import raw
from lookalike.learning.projection import Layers
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Answer GeneCIS templates by notions: the candidate that is nearest to the reference in the "
    "projection of the condition's notion. Conditions without one are answered by the vectors as "
    "they are, and counted. Image ids of the templates name the vectors. The recall of the "
    "vectors alone and of chance stand beside. Needs the extra `models`."
)
EXAMPLE = "lookalike learn score-templates focus_attribute.json --vectors v.npz --notion colour=colour.safetensors"  # noqa: E501


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("templates", type="input", metavar="TEMPLATES", help="JSON of GeneCIS")
    parser.add_argument(
        "--task", choices=[task.value for task in TASKS], help="by default told by the file's name"
    )
    add_vectors(parser)
    parser.add_argument(
        "--notion", type=_named_file, action="append", required=True, metavar="CONDITION=FILE",
        help="projection of `learn notion` for a condition; may be repeated",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> Report:
    """Score the answers of the notions.

    Raises:
        InputError, Refused: files or conditions that cannot be used.
    """
    found = template_rows(arguments.templates, arguments.task, *read_one(arguments))
    templates, rows = found.templates, found.rows
    notions = {name: Layers.load(path) for name, path in arguments.notion}
    known = {one.condition for one in templates}
    if unasked := [name for name in notions if name not in known]:
        some = ", ".join(sorted(known)[:8])
        raise InputError(f"no template has the condition {unasked[0]!r}; there is {some}")
    as_they_are = raw(found.vectors.shape[1])
    scores = {
        name: score_composer(
            composer, found.vectors, tasks=[one.task for one in templates], rows=rows,
            conditions=[one.condition for one in templates],
            answers=[len(one.gallery) for one in templates],
        )
        for name, composer in (
            ("notions", NotionComposer(notions, as_they_are)),
            ("vectors alone", NotionComposer({}, as_they_are)),
        )
    }  # fmt: skip
    return _report(arguments, scores, sum(one.condition in notions for one in templates))


def _report(arguments: argparse.Namespace, scores: dict[str, TemplateScore], n_with: int) -> Report:
    header = ("task", "answered by", "templates", *(f"R@{k}" for k in CUTOFFS))
    one = scores["notions"]
    rows: list[tuple[str | int | float, ...]] = []
    shown = []
    for task in one.by_task:
        found = {name: score.by_task[task] for name, score in scores.items()}
        for name, recall in (found | {"chance": one.chance[task]}).items():
            n, values = one.n_templates[task], [recall[k] for k in CUTOFFS]
            rows.append((task.value, name, n, *values))
            shown.append((task.value, name, f"{n:,}", *(TEXT.number(v, 3) for v in values)))
    n_templates = sum(one.n_templates.values())
    title = f"{arguments.templates}: {n_with:,} of {n_templates:,} templates have a notion"
    return Report(
        title=title,
        text="\n".join([title, *table([header, *shown]), ""]),
        data={"n_templates": n_templates, "n_with_notion": n_with,
              "recall": [dict(zip(header, row, strict=True)) for row in rows]},
        table=Table(header, rows),
    )  # fmt: skip


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals or not name.strip() or not path:
        raise argparse.ArgumentTypeError(f"{text!r} is not CONDITION=FILE")
    return name.strip(), Path(path)
