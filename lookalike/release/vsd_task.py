"""A release as a task of the VSD benchmark."""

from __future__ import annotations

import json
from collections import Counter

from lookalike.io.vsd_task import RESERVED, VsdTask, make_vsd_task
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder


def release_as_vsd_task(folder: Folder, name: str) -> VsdTask:
    """Return the labels, products, queries and candidates of a release as a task.

    Queries of a catalog of their own are not ranked, as in the benchmark's wild task. An image
    without a product, or every image where own products are compared, is a product of its own.

    Args:
        folder: the release.
        name: of the task.

    Raises:
        ReleaseError: two images have one path, by which tasks name them; or no pair has a label.
    """
    path_of = folder.path_of
    repeated = [path for path, n in Counter(path_of.values()).items() if n > 1]
    if repeated:
        raise ReleaseError(f"{folder.title}: two images have the path {repeated[0]!r}")
    queries = {query for (query,) in folder.rows("queries", "query_id")}
    products = folder.products or {}
    images, is_wild = [], False
    for image, text, is_candidate in folder.rows(
        "images", "image_id", "attributes", "is_candidate"
    ):
        is_wild |= not is_candidate
        phase = "query" if image in queries else "gallery"
        images.append(
            {"id": products.get(image) or image, "path": path_of[image], "phase": phase}
            | {key: value for key, value in json.loads(text or "{}").items() if key not in RESERVED}
        )
    labels = [(path_of[q], path_of[c], label) for q, c, label in folder.qrels()]
    return make_vsd_task(
        name,
        images,
        labels,
        seeds=[path_of[query] for query in sorted(queries)],
        manifest=[image["path"] for image in images],
        gallery_phases=["gallery"] if is_wild else None,
    )
