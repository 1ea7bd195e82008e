"""The measures of a release again, from its parquet files, with numpy and scikit-learn alone."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import average_precision_score, roc_auc_score

Scores = dict[str, dict[str, float]]


def rows(path: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(path).to_pylist())


def run_of(path: Path) -> Scores:
    scores: Scores = defaultdict(dict)
    for row in rows(path):
        scores[row["query"]][row["candidate"]] = row["score"]
    return scores


def tied(values: list[float], scores: Scores) -> list[float]:
    """Return values with the highest of its group for each score: scores tie up to rounding.

    The tolerance is what docs/measures.md states for the precision of the whole run.
    """
    every = np.array([score for of in scores.values() for score in of.values()])
    share = 2.5e-7 if (every.astype(np.float32) == every).all() else 1e-12
    is_cosine = every.min() < 0 and np.abs(every).max() <= 1 + share
    merged = np.array(values, dtype=np.float64)
    highest = np.nan
    for at in np.argsort(-merged, kind="stable"):
        if not highest - merged[at] <= share * (1.0 if is_cosine else abs(highest)):
            highest = merged[at]
        merged[at] = highest
    return list(merged)


def ranked(of: dict[str, float], scores: Scores) -> list[str]:
    """Return the images of one list by falling score, tied ones by id."""
    values = tied(list(of.values()), scores)
    return [image for _, image in sorted((-v, image) for v, image in zip(values, of, strict=True))]


def measures(folder: Path, scores: Scores) -> dict[str, float]:
    """Every measure of a board of yes-no labels, of a run that scores every labelled pair."""
    product = {row["image_id"]: row["product_id"] for row in rows(folder / "data/images.parquet")}
    labels = labels_of(folder, product)
    found: dict[str, list[float]] = defaultdict(list)
    truths: list[int] = []
    values: list[float] = []
    for query, judged in labels.items():
        of = scores[query]
        others = {
            image: score
            for image, score in of.items()
            if image != query and not (product[query] and product[image] == product[query])
        }
        listed = ranked(others, scores)
        top = [judged.get(image) for image in listed[:5]]
        found["judged@5"].append(1 - top.count(None) / len(top))
        found["hole@5"].append(top.count(None) / len(top))
        found["P_all@5"].append(top.count(1) / 5)
        truth, score = list(judged.values()), [of[image] for image in judged]
        truths += truth
        values += score
        score = tied(score, scores)
        if not any(truth):
            continue
        firsts = {product[image] or image: image for image in reversed(listed)}
        unique = [image for image in listed if firsts[product[image] or image] == image]
        for k in (5, 9):
            ranks = [r for r, image in enumerate(unique[:k], 1) if judged.get(image) == 1]
            found[f"vsd_hr@{k}"].append(len(ranks) / k)
            found[f"vsd_mrr@{k}"].append(
                sum(1 / rank for rank in ranks) / sum(1 / rank for rank in range(1, k + 1))
            )
        found["P@5"].append(top.count(1) / 5)
        found["P_max@5"].append((top.count(1) + top.count(None)) / 5)
        found["MRR@5"].append(1 / (top.index(1) + 1) if 1 in top else 0.0)
        found["Success@1"].append(top[0] == 1)
        found["Success@5"].append(1 in top)
        found["AP'"].append(average_precision_score(truth, score))
        if not all(truth):
            found["macro_roc_auc"].append(roc_auc_score(truth, score))
            found["macro_pr_auc"].append(average_precision_score(truth, score))
    means = {name: float(np.mean(of)) for name, of in found.items()}
    values = tied(values, scores)
    means["micro_roc_auc"] = float(roc_auc_score(truths, values))
    means["micro_pr_auc"] = float(average_precision_score(truths, values))
    return means


def labels_of(folder: Path, product: dict[str, str]) -> dict[str, dict[str, int]]:
    """Return the label of each pair that models are compared by, by query and image."""
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
    return labels


def equal_outsider_auc(folder: Path, model: str, scores: Scores) -> float:
    """Return the macro ROC-AUC of a model as if it had not built the pool.

    One that has built it is judged on the labels that would be there without it, any other on
    those without each of the builders in turn.
    """
    product = {row["image_id"]: row["product_id"] for row in rows(folder / "data/images.parquet")}
    proposers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows(folder / "data/pool.parquet"):
        proposers[row["query_id"], row["image_id"]].add(row["model_id"])
    builders = set().union(*proposers.values())
    found = []
    for query, judged in labels_of(folder, product).items():
        without: dict[str, float] = {}
        for builder in builders:
            kept = [image for image in judged if proposers[query, image] - {builder}]
            truth = [judged[i] for i in kept]
            values = tied([scores[query][i] for i in kept], scores)
            is_mixed = len({*truth}) == 2
            without[builder] = float(roc_auc_score(truth, values)) if is_mixed else np.nan
        every = np.array([*without.values()])
        if not np.isnan(every).any():
            found.append(without.get(model, float(every.mean())))
    return float(np.mean(found))
