"""Visual-similarity benchmarks: pooling, agreement, measures, pool bias, releases. No Django.

`import lookalike as lk` offers what a notebook wants, and loads each part when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike.agreement.aggregate import aggregate, measure_agreement
    from lookalike.agreement.votes import Votes, make_votes, read_truth, read_votes
    from lookalike.bias.evidence.assemble import Extras, assemble_evidence
    from lookalike.bias.evidence.files import make_proposals, read_proposals
    from lookalike.bias.report import BiasSettings, bias_report
    from lookalike.client import Client
    from lookalike.conditional.alignment import align
    from lookalike.conditional.formats.triplet_files import read_triplets
    from lookalike.images.layouts.read import read_layout
    from lookalike.io.errors import InputError
    from lookalike.io.labels import read_products, read_qrels
    from lookalike.io.runs import read_run
    from lookalike.io.tables import Qrels, Run
    from lookalike.io.vectors import VectorTable, read_vectors
    from lookalike.io.vsd_task import read_vsd_task
    from lookalike.metrics.score import score
    from lookalike.pooling.eds import pool
    from lookalike.release.compare import compare
    from lookalike.release.diff import diff
    from lookalike.release.mteb_task import mteb_task
    from lookalike.release.opened import open_release
    from lookalike.release.verify import verify
    from lookalike.search.nearest import nearest_images, top_k

__version__ = "0.2.0"
__all__ = [
    "BiasSettings",
    "Client",
    "Extras",
    "InputError",
    "Qrels",
    "Run",
    "VectorTable",
    "Votes",
    "aggregate",
    "align",
    "assemble_evidence",
    "bias_report",
    "compare",
    "diff",
    "make_proposals",
    "make_votes",
    "measure_agreement",
    "mteb_task",
    "nearest_images",
    "open_release",
    "pool",
    "read_layout",
    "read_products",
    "read_proposals",
    "read_qrels",
    "read_run",
    "read_triplets",
    "read_truth",
    "read_vectors",
    "read_votes",
    "read_vsd_task",
    "score",
    "top_k",
    "verify",
]
_PLACES = {
    "lookalike.agreement.aggregate": "aggregate measure_agreement",
    "lookalike.agreement.votes": "Votes read_truth read_votes make_votes",
    "lookalike.bias.evidence.assemble": "Extras assemble_evidence",
    "lookalike.bias.report": "BiasSettings bias_report",
    "lookalike.bias.evidence.files": "make_proposals read_proposals",
    "lookalike.client": "Client",
    "lookalike.conditional.alignment": "align",
    "lookalike.conditional.formats.triplet_files": "read_triplets",
    "lookalike.images.layouts.read": "read_layout",
    "lookalike.io.errors": "InputError",
    "lookalike.io.labels": "read_products read_qrels",
    "lookalike.io.runs": "read_run",
    "lookalike.io.tables": "Qrels Run",
    "lookalike.io.vectors": "VectorTable read_vectors",
    "lookalike.io.vsd_task": "read_vsd_task",
    "lookalike.metrics.score": "score",
    "lookalike.pooling.eds": "pool",
    "lookalike.release.compare": "compare",
    "lookalike.release.diff": "diff",
    "lookalike.release.opened": "open_release",
    "lookalike.release.mteb_task": "mteb_task",
    "lookalike.release.verify": "verify",
    "lookalike.search.nearest": "nearest_images top_k",
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a part when it is first used."""
    if name not in _PLACE_OF:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    part = getattr(import_module(_PLACE_OF[name]), name)
    globals()[name] = part
    return part


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
