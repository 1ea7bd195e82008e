"""`lookalike learn network`: a whole network learns from pictures, its weights come out."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path

from lookalike.backbones.errors import BackboneError
from lookalike.cli.described_vectors import described_images
from lookalike.cli.learn.inputs import add_words, read_language
from lookalike.cli.options import comma_list, seed
from lookalike.cli.output import Report
from lookalike.core.errors import Refused
from lookalike.images.sources import Source, SourceError, open_source
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.learning.embeddings.recipe import PRODUCT
from lookalike.learning.engine.loop import alone_in
from lookalike.learning.held_out import usual_unit
from lookalike.learning.networks.learn import FILE, CatalogPictures, LearntNetwork, learn_network
from lookalike.learning.networks.settings import OBJECTIVES, NetworkSettings
from lookalike.stats.text_tables import TEXT, table

DESCRIPTION = (
    "Train a timm network on pictures and what they have in common: attributes, or their product. "
    "Pictures are cropped and mirrored by chance; pairs are compared (multisimilarity, triplet), "
    "guided by the classes' names or by what the model itself takes pictures for, or a head "
    "classifies (fine-tuning). A fifth of the products is held out; a fifth of "
    "the others chooses the best step, and training ends where nothing is gained any more. The "
    "same command goes on where it was stopped. Needs the extra `models`, and a GPU for networks "
    "of full size."
)
EXAMPLE = "lookalike learn network --images photos/ --metadata metadata.csv --columns product --model timm:tf_efficientnet_lite0 --run own/"  # noqa: E501
HEADER = ("label", "nearest is right, before", "after")
_SETTINGS = NetworkSettings("")
_NUMBERS = {
    "image_size": "pixels of a side; default: the model's own",
    "steps": "at most; default: %(default)s",
    "batch": "images of a step; default: %(default)s",
    "per_class": "images of each class in it; default: %(default)s",
    "accumulate": "parts in which a batch passes, for small memories; default: %(default)s",
    "every": "steps between trials and checkpoints; default: %(default)s",
    "patience": "trials without a gain until it ends; default: %(default)s",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--images", type=Path, required=True, metavar="PATH", help="folder or zip of pictures"
    )
    parser.add_argument(
        "--metadata", type="input", required=True, metavar="FILE",
        help="CSV with the column path, a column for each attribute, maybe product_id; or JSON",
    )  # fmt: skip
    known = parser.add_mutually_exclusive_group(required=True)
    known.add_argument(
        "--columns", type=comma_list, metavar="NAMES",
        help="attributes, or product: images that agree in all are of one class",
    )  # fmt: skip
    known.add_argument(
        "--products", dest="columns", action="store_const", const=[PRODUCT],
        help="as --columns product",
    )  # fmt: skip
    parser.add_argument(
        "--model", required=True, metavar="SPEC", help="to begin with: timm:… or file:…?arch=…"
    )
    parser.add_argument("--objective", choices=OBJECTIVES, default=_SETTINGS.objective)
    for name, text in _NUMBERS.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(
            option, type=int, default=getattr(_SETTINGS, name), metavar="N", help=text
        )
    for name in ("rate", "weight_decay", "crop"):
        option, default = f"--{name.replace('_', '-')}", getattr(_SETTINGS, name)
        parser.add_argument(
            option, type=float, default=default, metavar="X", help="default: %(default)s"
        )
    add_words(parser)
    parser.add_argument(
        "--precision", choices=("float32", "bfloat16", "float16"), default=_SETTINGS.precision
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--run", dest="folder", type=Path, required=True, metavar="FOLDER",
        help=f"for the checkpoint, the curve and {FILE}",
    )  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="default: the GPU if there is one")


def run(arguments: argparse.Namespace) -> Report:
    """Train, write, and score on what was held out.

    Raises:
        InputError, Refused: files, columns or settings that cannot be used.
        OSError: a file cannot be written.
    """
    names = [field.name for field in fields(NetworkSettings)]
    settings = NetworkSettings(**{name: getattr(arguments, name) for name in names})
    language = read_language(arguments.language) if settings.words else None
    if not arguments.columns:
        raise Refused("columns", f"name attributes, or {PRODUCT!r}")
    try:
        with ExitStack() as stack:
            source = stack.enter_context(open_source(arguments.images))
            pictures, n_unknown = _pictures(source, Path(arguments.metadata))
            stack.enter_context(alone_in(arguments.folder))
            found = learn_network(
                pictures, arguments.columns, settings, arguments.folder, language=language,
                device=arguments.device,
            )  # fmt: skip
    except (BackboneError, SourceError) as problem:
        raise InputError(str(problem)) from problem
    name = " and ".join(arguments.columns)
    shown = ["" if value is None else TEXT.number(value, 3) for value in found.found]
    held_out = usual_unit(pictures.products)
    title = (
        f"A network of {found.n_learnt:,} images, asked about {found.n_held_out:,} others; "
        f"held out: {held_out}"
    )
    text = table([HEADER, (name, *shown)])
    return Report(
        title=title,
        text="\n".join([title, *text, "", f"Embed, or fill a pool, by {found.spec}", ""]),
        data={
            "model": found.spec, "best_step": found.best_step, "n_learnt": found.n_learnt,
            "n_trial": found.n_trial, "n_held_out": found.n_held_out, "held_out": held_out,
            "classes_left_out": list(found.alone),
            "nearest_is_right": {"before": found.found[0], "after": found.found[1]},
        },
        table=Table(HEADER, [(name, *found.found)]),
        notes=_notes(found, settings, n_unknown),
    )  # fmt: skip


def _pictures(source: Source, metadata: Path) -> tuple[CatalogPictures, int]:
    """Return the pictures of a metadata file, and how many others the source has.

    Raises:
        InputError: a file cannot be used, or a row has no picture.
    """
    known, at_hand = described_images(metadata), set(source.paths)
    if absent := [row for path, row in known.items() if path not in at_hand]:
        first = f"{metadata.name}, row {absent[0].number}: {source.name} has no picture"
        raise InputError(f"{first} {absent[0].path!r} ({len(absent):,} are missing)")
    rows = list(known.values())
    found = CatalogPictures(
        source, [*known], [row.attributes for row in rows], [row.product_id for row in rows]
    )
    return found, len(at_hand - set(known))


def _notes(found: LearntNetwork, settings: NetworkSettings, n_unknown: int) -> list[str]:
    notes = []
    if n_unknown:
        notes.append(f"{n_unknown:,} pictures without metadata were left out")
    if found.alone:
        names = ", ".join(found.alone[:5]) + (" and so on" if len(found.alone) > 5 else "")
        notes.append(f"{len(found.alone):,} classes of one image were left out: {names}")
    if found.n_trial < 2:
        notes.append("no products were left to choose the best step by: the last one was kept")
    elif not found.best_step:
        notes.append("no step was better than the start, whose weights were kept")
    if settings.image_size not in (0, found.own_side):
        notes.append(
            f"it learnt at {settings.image_size} pixels; the file gets, and was asked by, pictures "
            f"of {found.own_side}, as its architecture has it"
        )
    return notes
