"""Counts and agreement of a release, computed from its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.agreement.coefficients import agreement
from lookalike.agreement.grades import ordinal_agreement
from lookalike.agreement.intervals import CoefficientIntervals, agreement_intervals
from lookalike.agreement.votes import Votes as JudgedItems
from lookalike.core.arrays import Ints
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import FIRST_WITH_BOARD, RULES
from lookalike.release.labelling import Votes, share
from lookalike.release.scoring import rounded
from lookalike.stats.units import Units

INTERVALS = {
    "percent": "percent",
    "alpha": "krippendorff_alpha",
    "ac1": "gwet_ac1",
    "fleiss": "fleiss_kappa",
}
GRADE_INTERVALS = {
    "ordinal_alpha": "krippendorff_alpha_ordinal",
    "percent": "same_grade",
    "within_one": "within_one_grade",
}


def compute_statistics(folder: Folder, votes: Votes) -> dict[str, Any]:
    """Return what statistics.json holds."""
    labels = folder.table("labels")
    counts = votes.counts
    is_tied = (counts[:, 0] == counts[:, 1]) & (counts.sum(axis=1) > 0)
    figures = agreement(counts[:, ::-1])
    reasons = folder.table("excluded", ["reason"])["reason"].to_pylist()
    queries = folder.table("queries", ["split"])["split"].to_pylist()
    return _grade_statistics(folder, votes, labels) | {
        "n_images": folder.table("images", ["n_bytes"]).num_rows,
        "n_products": len(set(folder.product_of.values()) - {""}),
        "n_queries": len(queries),
        "n_hidden_queries": queries.count("hidden"),
        "n_pairs": folder.table("pairs", ["campaign"]).num_rows,
        "n_proposals": folder.table("pool", ["rank"]).num_rows,
        "n_models": len(folder.models),
        "n_judgements": folder.table("judgements", ["is_counted"]).num_rows,
        "n_votes": int(votes.pair_of.size),
        "n_judges": len(votes.judges),
        "n_rulings": int((votes.ruling >= 0).sum()),
        "n_tied": int(is_tied.sum()),
        "n_excluded": {reason: reasons.count(reason) for reason in sorted(set(reasons))},
        "labels": {rule: _label_counts(labels, rule) for rule in ("label", *RULES)},
        "votes_by_judge": _by_judge(votes),
        "agreement": {
            "n_pairs_with_two_votes": int((counts.sum(axis=1) >= 2).sum()),
            "percent": rounded(figures.percent),
            "krippendorff_alpha": rounded(figures.alpha),
            "gwet_ac1": rounded(figures.ac1),
            "fleiss_kappa": rounded(figures.fleiss),
            "prevalence_of_similar_votes": rounded(_share_similar(counts)),
            **_intervals(folder, votes, votes.is_similar, 2, INTERVALS),
        },
    }


def _intervals(
    folder: Folder, votes: Votes, labels: Ints, n_labels: int, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the intervals of coefficients, with queries of one product as one unit.

    Releases before `FIRST_WITH_BOARD` have none.
    """
    if folder.info.get("schema_version", 1) < FIRST_WITH_BOARD:
        return {}
    queries = [votes.ids[key // len(votes.ids)] for key in votes.keys.tolist()]
    units = Units.of(queries, folder.product_of)
    found = agreement_intervals(
        JudgedItems(
            items=[str(at) for at in range(votes.keys.size)],
            workers=list(votes.judges),
            labels=[str(at) for at in range(n_labels)],
            item_of=votes.pair_of,
            worker_of=votes.judge_of,
            label_of=labels,
            units=units.codes,
        )
    )
    return {"intervals": {key: intervals_json(found[name]) for name, key in names.items()}}


def intervals_json(of: CoefficientIntervals) -> dict[str, Any]:
    """Return the intervals of a coefficient as the files of a release have them."""
    return {
        name: {key: rounded(v) if isinstance(v, float) else v for key, v in ends.items()}
        for name, ends in of.as_json().items()
    }


def _grade_statistics(folder: Folder, votes: Votes, labels: pa.Table) -> dict[str, Any]:
    """Return what there is to say of grades; nothing where there are none."""
    if votes.scale is None:
        return {}
    given = ordinal_agreement(votes.grade_counts)
    by_grade = Counter(labels["grade"].drop_null().to_pylist())
    return {
        "grades": {
            "n_labels": [by_grade[grade] for grade in range(votes.scale.n_grades)],
            "share_of_votes": [rounded(share) for share in given.prevalence],
            "krippendorff_alpha_ordinal": rounded(given.alpha),
            "same_grade": rounded(given.percent),
            "within_one_grade": rounded(given.within_one),
            **_intervals(folder, votes, votes.grade, votes.scale.n_grades, GRADE_INTERVALS),
        }
    }


def _share_similar(counts: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    total = int(counts.sum())
    return float(counts[:, 1].sum()) / total if total else float("nan")


def _label_counts(labels: Any, rule: str) -> dict[str, Any]:
    n_decided = labels.num_rows - labels[rule].null_count
    n_similar = int(pc.sum(labels[rule]).as_py() or 0)
    return {
        "n_decided": n_decided,
        "n_similar": n_similar,
        "n_different": n_decided - n_similar,
        "share_similar": share(n_similar, n_decided),
    }


def _by_judge(votes: Votes) -> dict[str, Any]:
    n = np.bincount(votes.judge_of, minlength=len(votes.judges))
    n_similar = np.bincount(
        votes.judge_of, weights=votes.is_similar, minlength=len(votes.judges)
    ).astype(np.int64)
    return {
        name: {"n_votes": int(n[j]), "n_similar": int(n_similar[j])}
        for j, name in enumerate(votes.judges)
    }
