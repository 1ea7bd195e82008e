"""A release as a task of MTEB, with the rules that the release is scored by."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.io.errors import InputError
from lookalike.release.opened import open_release

if TYPE_CHECKING:
    from mteb.abstasks import AbsTaskRetrieval


def mteb_task(release: str | Path, revision: str = "main") -> AbsTaskRetrieval:
    """Return a retrieval task for `mteb.evaluate`.

    MTEB itself leaves neither the query nor the images of its product out of what is ranked;
    this task does, where the release does.

    Args:
        release: zip or folder of a release, or its name on the Hugging Face Hub. A zip is unpacked
            for as long as the task is used.
        revision: of the data set there.

    Raises:
        InputError: the package mteb is not installed.
        ReleaseError: the zip is no release.
    """
    try:
        # optional, and takes seconds
        from mteb.abstasks import AbsTaskRetrieval  # noqa: PLC0415
        from mteb.abstasks.task_metadata import TaskMetadata  # noqa: PLC0415
    except ModuleNotFoundError as problem:
        raise InputError("mteb_task needs mteb: pip install 'lookalike[publishing]'") from problem

    opened = open_release(release) if Path(release).is_file() else None
    folder = str(release if opened is None else opened.path)
    title = str(release) if opened is None else Path(release).stem

    class ReleaseTask(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name=re.sub(r"\W+", "-", title).strip("-"),
            description="Which images of a catalog look like a query, by blind expert judgement.",
            dataset={"path": folder, "revision": revision},
            type="Any2AnyRetrieval",
            category="i2i",
            modalities=["image"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )
        ignore_identical_ids = True
        unpacked = opened  # the folder goes when nothing refers to it

        def dataset_transform(self, num_proc: int | None = None, **kwargs: Any) -> None:
            """Let each query rank all but itself and its product."""
            for split in self.dataset["default"].values():
                corpus, queries = split["corpus"], split["queries"]
                if not any(queries["product_id"]):
                    continue
                candidates = list(zip(corpus["id"], corpus["product_id"], strict=True))
                split["top_ranked"] = {
                    query: [
                        image for image, of in candidates
                        if image != query and (not own or of != own)
                    ]
                    for query, own in zip(queries["id"], queries["product_id"], strict=True)
                }  # fmt: skip

    return ReleaseTask()
