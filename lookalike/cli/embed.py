"""`lookalike embed`: a folder or zip of images as vectors, by any backbone."""

from __future__ import annotations

import argparse
from pathlib import Path

from lookalike.backbones.embed import embed_images
from lookalike.backbones.errors import BackboneError
from lookalike.backbones.loading import best_device, load_backbone
from lookalike.backbones.pictures import SourcePicture
from lookalike.backbones.slow_precision import slow_precision
from lookalike.cli.output import WANTING, Report
from lookalike.core.caches import cache_folder
from lookalike.images.sources import SourceError, open_source
from lookalike.io.documents import Table
from lookalike.io.errors import InputError
from lookalike.io.vectors import write_vectors

DESCRIPTION = (
    "Turn the images of a folder or zip into vectors of length 1, named by their paths. Needs the "
    "extra `models`. The exit status is 1 if an image cannot be read; the others are written."
)
EXAMPLE = "lookalike embed photos/ --model timm:tf_efficientnet_lite0 --out lite0.npz"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("images", type=Path, metavar="IMAGES", help="folder or zip")
    parser.add_argument("--model", required=True, metavar="SPEC", help="as docs/backbones.md names")
    parser.add_argument(
        *("--out", "-o"),
        dest="vectors",
        type=_vector_file,
        required=True,
        metavar="FILE",
        help=".npz or .parquet to write",
    )
    parser.add_argument("--batch-size", type=int, metavar="N", help="default: the model's own")
    parser.add_argument(
        "--names-encoding",
        default="",
        metavar="NAME",
        help="of a zip's names that do not say theirs, such as shift_jis; default: guessed",
    )
    parser.add_argument("--device", metavar="NAME", help="default: the GPU if there is one")


def run(arguments: argparse.Namespace) -> Report:
    """Embed the images and write the vectors.

    Raises:
        InputError: no images, or a model that is unknown or cannot be loaded.
        OSError: the vectors cannot be written.
    """
    broken: dict[int, str] = {}
    try:
        with open_source(arguments.images, None, arguments.names_encoding) as source:
            backbone = load_backbone(
                arguments.model, arguments.device, engines=cache_folder("engines")
            )
            paths = source.paths
            refused, remarks, n_junk = source.problems, source.notes, source.n_junk
            vectors = embed_images(
                backbone,
                [SourcePicture(source, path) for path in paths],
                batch_size=arguments.batch_size,
                on_broken=broken.__setitem__,
            )
    except (BackboneError, SourceError) as problem:
        raise InputError(str(problem)) from problem
    problems = [
        (paths[row], reason.removeprefix(f"{paths[row]}: "))
        for row, reason in sorted(broken.items())
    ]
    problems += [(problem.file, problem.reason) for problem in refused]
    read = [row for row in range(len(paths)) if row not in broken]
    if not read:
        first = f": {': '.join(problems[0])}" if problems else ""
        raise InputError(f"{arguments.images} holds no image that can be read{first}")
    ids = [paths[row] for row in read]
    write_vectors(arguments.vectors, ids, vectors[read], backbone.fingerprint)
    device = str(arguments.device or best_device())
    notes = [slow_precision(arguments.model, device), _left_out(n_junk)]
    notes += [f"{note.file}: {note.reason}" for note in remarks]
    notes += [f"{path}: {reason}" for path, reason in problems]
    return Report(
        title=f"Vectors of {arguments.images}",
        text=f"{arguments.vectors}: {len(read):,} vectors of {backbone.dim:,} dimensions by "
        f"{backbone.spec}\n",
        data={
            "file": str(arguments.vectors),
            "model": backbone.spec,
            "fingerprint": backbone.fingerprint,
            "n_images": len(read),
            "dim": backbone.dim,
            "not_read": [{"image": path, "reason": reason} for path, reason in problems],
            "left_out": n_junk,
        },
        table=Table(("image", "reason"), problems),
        status=WANTING if broken else 0,
        notes=[note for note in notes if note],
    )


def _left_out(n_junk: int) -> str:
    return f"Left out: {n_junk:,} files of desktops and network disks" if n_junk else ""


def _vector_file(text: str) -> Path:
    path = Path(text)
    if path.suffix not in (".npz", ".parquet"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .npz or .parquet")
    return path
