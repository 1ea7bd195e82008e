"""`lookalike evaluate SPEC --release X.zip`: from a release's pictures to a model's numbers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import best_device, load_backbone
from lookalike.backbones.protocol import Backbone
from lookalike.backbones.slow_precision import slow_precision
from lookalike.cli.drawn_negatives import add_negatives, pairs_of, read_of_release
from lookalike.cli.output import Report
from lookalike.cli.score_release import parse_measures, report_on_release
from lookalike.core.caches import cache_folder
from lookalike.io.errors import InputError
from lookalike.io.tables import Run
from lookalike.release.embedding import EmbeddedImages, embed_release
from lookalike.release.opened import Release, open_release

DESCRIPTION = (
    "Embed the images of a release by a model, rank them, and score that by the release's labels "
    "and rules: the numbers of its board. Needs the extra `models`. Vectors are kept, so a second "
    "run is quick."
)
EXAMPLE = "lookalike evaluate timm:tf_efficientnet_lite0 --release luma-1.0.0.zip --images photos/"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "models", nargs="+", metavar="SPEC", help="as docs/backbones.md names; several are compared"
    )
    parser.add_argument(
        "--release", type="input", required=True, metavar="RELEASE", help="folder or zip"
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="IMAGES",
        help="folder or zip of the pictures that the release does not hold, told by their bytes",
    )
    parser.add_argument("--measures", metavar="A,B", help="default: the release's")
    add_negatives(parser)
    parser.add_argument("--by-query", action="store_true", help="also the values of each query")
    parser.add_argument("--batch-size", type=int, metavar="N", help="default: the model's own")
    parser.add_argument("--device", metavar="NAME", help="default: the GPU if there is one")
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder("vectors"),
        metavar="FOLDER",
        help="where vectors are kept (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Embed, rank and score.

    Raises:
        InputError: a model that is unknown or cannot be loaded, a release without its pictures,
            or an unknown measure.
        OSError: the vectors cannot be kept.
    """
    if arguments.measures is not None:
        parse_measures(arguments.measures)  # before anything takes long
    specs: list[str] = arguments.models
    if repeated := [spec for spec in specs if specs.count(spec) > 1]:
        raise InputError(f"the same model is given twice: {repeated[0]}")
    with open_release(arguments.release) as release:
        negatives = read_of_release(arguments, release)
        judged = replace(release.judged, further=pairs_of(negatives))
        runs: list[Run] = []
        notes: list[str] = []
        model_of: dict[str, str] = {}
        for spec in specs:
            try:
                backbone = load_backbone(spec, arguments.device, engines=cache_folder("engines"))
            except BackboneError as problem:
                raise InputError(str(problem)) from problem
            embedded = embed_release(
                release,
                backbone,
                images=arguments.images,
                cache=arguments.cache,
                batch_size=arguments.batch_size,
            )
            runs.append(judged.ranked(spec, embedded.table, spec))
            notes += filter(None, [slow_precision(spec, str(arguments.device or best_device()))])
            if same := _same_model(release, backbone):
                model_of[spec] = same
            notes += _notes(release, spec, backbone, embedded)
        report = report_on_release(
            arguments, release, runs, specs, model_of=model_of, negatives=negatives
        )
    return replace(report, notes=[*notes, *report.notes])


def _same_model(release: Release, backbone: Backbone) -> str | None:
    """Return the id of the model of a release that a backbone is, told by its fingerprint."""
    models = release.models
    same = (one["id"] for one in models if one.get("fingerprint") == backbone.fingerprint)
    return next(same, None)


def _notes(
    release: Release, spec: str, backbone: Backbone, embedded: EmbeddedImages
) -> Iterator[str]:
    n_images = len(embedded.table.ids)
    yield (
        f"{spec}: {embedded.n_computed:,} of {n_images:,} images embedded now, "
        f"{n_images - embedded.n_computed:,} kept from before"
    )
    same = _same_model(release, backbone)
    named = [model for model in release.models if model["name"] == backbone.spec]
    if same:
        yield f"{spec} is {same} of the release's board"
    elif named:
        yield (
            f"{spec} is not the model of that name on the release's board: weights, library or "
            "preprocessing differ (another fingerprint), so its numbers may, too"
        )
