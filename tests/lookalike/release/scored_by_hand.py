"""The measures of a release again, from its parquet files, with numpy and scikit-learn alone."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

Scores = dict[str, dict[str, float]]


def rows(path: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(path).to_pylist())


def run_of(path: Path) -> Scores:
    scores: Scores = defaultdict(dict)
    for row in rows(path):
        scores[row["query"]][row["candidate"]] = row["score"]
    return scores


def measures(folder: Path, scores: Scores) -> dict[str, float]:
    """P@5, MRR@5, vsd_hr@5, macro and micro ROC-AUC, of a run that scores every labelled pair."""
    product = {row["image_id"]: row["product_id"] for row in rows(folder / "data/images.parquet")}
    pool = {(row["query_id"], row["image_id"]) for row in rows(folder / "data/pool.parquet")}
    drawn = {
        (row["query_id"], row["image_id"])
        for row in rows(folder / "data/pairs.parquet")
        if row["stratum"] != "pool"
    }
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows(folder / "data/labels.parquet"):
        query, image = row["query_id"], row["image_id"]
        own = product[query] and product[query] == product[image]
        if row["label"] is not None and not own and (query, image) not in drawn - pool:
            labels[query][image] = row["label"]
    found: dict[str, list[float]] = defaultdict(list)
    truths: list[int] = []
    values: list[float] = []
    for query, judged in labels.items():
        of = scores[query]
        listed = [
            image
            for _, image in sorted((-score, image) for image, score in of.items())
            if image != query and not (product[query] and product[image] == product[query])
        ]
        firsts = {product[image] or image: image for image in reversed(listed)}
        unique = [image for image in listed if firsts[product[image] or image] == image]
        truth, score = list(judged.values()), [of[image] for image in judged]
        truths += truth
        values += score
        if not any(truth):
            continue
        hits = [judged.get(image) == 1 for image in listed[:5]]
        found["P@5"].append(sum(hits) / 5)
        found["MRR@5"].append(1 / (hits.index(True) + 1) if any(hits) else 0.0)
        found["vsd_hr@5"].append(sum(judged.get(image) == 1 for image in unique[:5]) / 5)
        if not all(truth):
            found["macro_roc_auc"].append(float(roc_auc_score(truth, score)))
    means = {name: float(np.mean(of)) for name, of in found.items()}
    return means | {"micro_roc_auc": float(roc_auc_score(truths, values))}
