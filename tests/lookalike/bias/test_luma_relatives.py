"""Relatives among real models on real photos: which may be related, and which may not."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.backbones.loading import load_backbone
from lookalike.bias.evidence.assemble import Extras, assemble_evidence
from lookalike.bias.evidence.files import make_proposals
from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.relatives import undeclared_relatives
from lookalike.core.arrays import Floats
from lookalike.io.tables import Qrels, Run

DESCRIPTORS = ("colour-histogram", "colour-layout", "hog-shape", "lbp-texture")
NETWORKS = tuple(f"timm:tf_efficientnet_lite{size}" for size in range(2))
N_PHOTOS, N_QUERIES, DEPTH = 240, 60, 6


def photos(shared: Path) -> list[dict[str, str]]:
    with (shared / "luma_fashion/metadata.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["product_id"]]
    return rows[:: len(rows) // N_PHOTOS][:N_PHOTOS]


def cosines(shared: Path, rows: Sequence[dict[str, str]], spec: str) -> Floats:
    backbone = load_backbone(spec, "cpu")
    images = (Image.open(shared / "luma_fashion" / row["path"]).convert("RGB") for row in rows)
    inputs = [backbone.transform(image) for image in images]
    vectors = np.asarray(backbone.embed(inputs), np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def evidence(
    rows: Sequence[dict[str, str]], scores: dict[str, Floats], pooled: Sequence[str]
) -> PoolEvidence:
    """Return the pool of some models; similar is of one category and colour."""
    queries = np.random.default_rng(0).choice(len(rows), N_QUERIES, replace=False).tolist()
    path = [row["path"] for row in rows]
    proposals = []
    for model in pooled:
        for q in queries:
            others = [i for i in range(len(rows)) if rows[i]["product_id"] != rows[q]["product_id"]]
            best = sorted(others, key=lambda i: -scores[model][q, i])[:DEPTH]
            proposals += [(path[q], path[i], model, rank) for rank, i in enumerate(best, 1)]
    at = {name: i for i, name in enumerate(path)}

    def is_similar(first: str, second: str) -> bool:
        a, b = rows[at[first]], rows[at[second]]
        return (a["category"], a["color"]) == (b["category"], b["color"])

    asked = dict.fromkeys((query, candidate) for query, candidate, _, _ in proposals)
    labels = Qrels.of((a, b, int(is_similar(a, b))) for a, b in asked)
    runs = [
        Run.of(name, [(path[q], path[i], float(of[q, i])) for q in queries
                      for i in range(len(rows)) if i != q])
        for name, of in scores.items()
    ]  # fmt: skip
    products = {row["path"]: row["product_id"] for row in rows}
    return assemble_evidence(
        labels, make_proposals(proposals), runs, extras=Extras(products=products)
    )


def test_unrelated_descriptors_are_no_relatives(shared_data):
    rows = photos(shared_data)
    scores = {name: cosines(shared_data, rows, f"descriptor:{name}") for name in DESCRIPTORS}
    assert undeclared_relatives(evidence(rows, scores, DESCRIPTORS)) == []
    for outsider in DESCRIPTORS:
        pooled = [name for name in DESCRIPTORS if name != outsider]
        assert undeclared_relatives(evidence(rows, scores, pooled)) == []


@pytest.mark.daily
def test_networks_of_one_family_may_be_related_to_each_other_alone(shared_data):
    rows = photos(shared_data)
    specs = (*NETWORKS, *(f"descriptor:{name}" for name in DESCRIPTORS))
    scores = {spec: cosines(shared_data, rows, spec) for spec in specs}
    for pooled in (specs, specs[:1] + specs[2:], specs[:1] + specs[3:5]):
        found = evidence(rows, scores, pooled)
        assert [set(pair) for *pair, _ in undeclared_relatives(found)] == [set(NETWORKS)]
        declared = replace(found, families=dict.fromkeys(NETWORKS, "lite"))
        assert undeclared_relatives(declared) == []
