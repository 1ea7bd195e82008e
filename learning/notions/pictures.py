"""Draw a notion: its catalog laid out by it, and where in pictures it looks.

Only tasks and commands import this: it loads torch.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
from django.db import transaction
from PIL import Image as Pillow

from catalog.images.blobs import read_blob, read_preview
from catalog.models import EmbeddingSet, Image
from catalog.vectors.embeddings import EmbeddingError, load_vectors, vectors_sha256
from catalog.vectors.projections import read_layers
from jobs.services import JobError, JobProgress
from learning.models import Notion, NotionPicture, PictureKind
from learning.neighbours import parent_vectors, pictures_offered
from learning.notions.fit import fit_notion
from learning.notions.recipes import NotionRecipe
from learning.text_vectors import full_memory_named
from lookalike.backbones.networks import NetworkBackbone
from lookalike.core.arrays import Float32s
from lookalike.core.dataclass_json import from_json
from lookalike.images.decode import read_rgb
from lookalike.learning.notions.saliency import (
    DIM,
    N_COPIES,
    difference_picture,
    mapped_by,
    smooth_grad,
)
from lookalike.search.triplet_map import triplet_map
from pooling.embedding.embed import ready_backbone

SEED = 0
MOST_ON_MAP = 3_000  # images; of more, the same part each time
SIDE, GAP = 1_000, 40  # pixels of each of the two maps, and between them
SMALLEST, LARGEST = 16, 64  # sides of an image on a map
NEAR = sorted(  # cells in which an image finds room, by how far they are from its own
    ((x, y) for x in range(-3, 4) for y in range(-3, 4)), key=lambda cell: np.hypot(*cell)
)
N_SHOWN, N_COLUMNS = 8, 4
QUALITY = 88
PAPER = (255, 255, 255)


@full_memory_named()
def draw_notion(*, notion_id: int, progress: JobProgress) -> dict[str, Any]:
    """Draw both pictures of a notion and store them; what is up to date is kept. May run twice.

    Raises:
        JobError: the notion was deleted, or its vectors or pictures are not there any more.
        Refused: its prompts cannot be read any more.
        JobLostError: the job was cancelled or taken over.
    """
    found = Notion.objects.select_related("space__projection", "space__run__catalog", "projection")
    notion = found.filter(pk=notion_id).first()
    if notion is None:
        raise JobError("The notion was deleted.")
    space = notion.space
    vectors = parent_vectors(space.projection, space.catalog)
    if vectors is None:
        spec = space.projection.parent_spec
        raise JobError(
            f"The pictures of “{space.catalog}” have no vectors by {spec} any more; "
            "add them to the space first."
        )
    drawn = [_draw_map(notion, vectors, progress), _draw_saliency(notion, progress)]
    return {"notion": notion.spec, "pictures": [kind for kind in drawn if kind]}


def _draw_map(notion: Notion, vectors: EmbeddingSet, progress: JobProgress) -> str:
    card = {
        "method": "TriMap", "seed": SEED, "notion": notion.projection.fingerprint,
        "vectors": vectors_sha256(vectors),
    }  # fmt: skip
    if _is_there(notion, PictureKind.MAP, card):
        return PictureKind.MAP
    images, rows = _on_map(notion, vectors)
    thumbs = _thumbs(images, progress)
    sheet = Pillow.new("RGB", (2 * SIDE + GAP, SIDE), PAPER)
    n_shown = []
    for place, layers in enumerate((notion.space.projection, notion.projection)):
        points = triplet_map(read_layers(layers.sha256).apply(rows), seed=SEED, progress=progress)
        panel, n = _panel(points, thumbs)
        sheet.paste(panel, (place * (SIDE + GAP), 0))
        n_shown.append(n)
    progress.hold()
    _store(notion, PictureKind.MAP, card | {"n_images": len(images), "n_shown": n_shown}, sheet)
    return PictureKind.MAP


def _on_map(notion: Notion, vectors: EmbeddingSet) -> tuple[list[Image], Float32s]:
    """Return the images that are laid out, in an order that says nothing, and their vectors."""
    try:
        ids, rows = load_vectors(vectors)
    except EmbeddingError as problem:
        raise JobError(str(problem)) from problem
    row_of = {pk: row for row, pk in enumerate(ids.tolist())}
    images = notion.space.catalog.images.filter(pk__in=row_of).order_by("sha256")
    chosen = list(images[:MOST_ON_MAP])
    picked = [row_of[image.pk] for image in chosen]
    return chosen, np.asarray(rows[picked], np.float32)


def _thumbs(images: list[Image], progress: JobProgress) -> list[Pillow.Image]:
    side = int(np.clip(0.8 * SIDE / max(1, len(images)) ** 0.5, SMALLEST, LARGEST))
    progress.start(0, len(images), "Reading the images")
    found = []
    for n_read, image in enumerate(images, 1):
        try:
            thumb = read_rgb(read_preview(image.sha256, "thumb"))
        except FileNotFoundError as problem:
            raise JobError(f"A picture is missing or damaged: {problem}") from problem
        thumb.thumbnail((side, side))
        found.append(thumb)
        progress.update(n_read)
    return found


def _panel(points: Float32s, thumbs: list[Pillow.Image]) -> tuple[Pillow.Image, int]:
    """Return a map of pictures, none over another, and how many found room near their place."""
    side = max((max(thumb.size) for thumb in thumbs), default=1)
    n_cells = SIDE // side
    panel, taken = Pillow.new("RGB", (SIDE, SIDE), PAPER), set()
    for place, thumb in zip(np.minimum(points * n_cells, n_cells - 1), thumbs, strict=True):
        column, row = place.astype(int).tolist()
        near = ((column + across, row + down) for across, down in NEAR)
        free = (cell for cell in near if cell not in taken and {*cell} <= {*range(n_cells)})
        if (cell := next(free, None)) is not None:
            taken.add(cell)
            rest = [(side - length) // 2 for length in thumb.size]
            panel.paste(thumb, (cell[0] * side + rest[0], cell[1] * side + rest[1]))
    return panel, len(taken)


def _draw_saliency(notion: Notion, progress: JobProgress) -> str:
    """Draw where a notion looks; nothing where a descriptor and no network looks at pictures."""
    space = notion.space
    images = pictures_offered(space.catalog)[:N_SHOWN]
    card = {
        "method": "SmoothGrad", "seed": SEED, "copies": N_COPIES, "directions": DIM,
        "notion": notion.projection.fingerprint, "images": [image.sha256 for image in images],
    }  # fmt: skip
    if _is_there(notion, PictureKind.SALIENCY, card):
        return PictureKind.SALIENCY
    backbone = ready_backbone(space.projection.parent_spec, progress)
    if not isinstance(backbone, NetworkBackbone):
        return ""
    recipe = replace(from_json(NotionRecipe, notion.recipe), dim=DIM)
    before = read_layers(space.projection.sha256)
    maps = [mapped_by(before.followed_by(fit_notion(space, recipe))), mapped_by(before)]
    tiles = []
    progress.start(0, len(images), "Looking where the notion looks", is_long=True)
    for n_seen, image in enumerate(images, 1):
        seen = backbone.transform(read_rgb(_original(image)))
        inputs = [backbone.as_input(one) for one in (seen, np.zeros_like(seen))]
        with_notion, without = smooth_grad(backbone.features, maps, *inputs, seed=SEED)
        tiles.append(np.vstack([seen, difference_picture(seen, with_notion, without)]))
        progress.update(n_seen)
    rows = [np.hstack(tiles[at : at + N_COLUMNS]) for at in range(0, len(tiles), N_COLUMNS)]
    width = max(row.shape[1] for row in rows)
    padded = [
        np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0)), constant_values=255)
        for row in rows
    ]
    sheet = Pillow.fromarray(np.vstack(padded))
    progress.hold()
    _store(notion, PictureKind.SALIENCY, card | {"n_images": len(images)}, sheet)
    return PictureKind.SALIENCY


def _original(image: Image) -> bytes:
    try:
        return read_blob(image.sha256, "original")
    except FileNotFoundError as problem:
        raise JobError(f"A picture is missing or damaged: {problem}") from problem


def _is_there(notion: Notion, kind: PictureKind, card: dict[str, Any]) -> bool:
    found = NotionPicture.objects.filter(notion=notion, kind=kind).defer("content").first()
    return found is not None and card.items() <= found.card.items()


def _store(notion: Notion, kind: PictureKind, card: dict[str, Any], sheet: Pillow.Image) -> None:
    file = io.BytesIO()
    sheet.save(file, "JPEG", quality=QUALITY, comment=f"{kind.label} of {notion.spec}")
    with transaction.atomic():
        if not Notion.objects.select_for_update().filter(pk=notion.pk).exists():
            raise JobError("The notion was deleted meanwhile.")
        NotionPicture.objects.update_or_create(
            notion=notion, kind=kind, defaults={"content": file.getvalue(), "card": card}
        )
