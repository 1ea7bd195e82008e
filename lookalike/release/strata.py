"""What could be judged and what was: the strata of a release, campaign by campaign."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from lookalike.release.format.folder import Folder
from lookalike.release.format.tables import rows_of
from lookalike.release.labelling import share

POOL = "pool"
OUTSIDE = "outside the pool"
KNOWS_CAMPAIGNS = 3  # the schema version from which strata are told apart by campaign


@dataclass
class _Counted:
    """Pairs of public queries in one stratum.

    Attributes:
        n_asked: put to the judges.
        n_labelled: of these, with a label.
        chance: sum over those with a label of the chance that they had to be asked.
    """

    n_asked: int = 0
    n_labelled: int = 0
    chance: float = 0.0


def compute_strata(folder: Folder) -> list[dict[str, Any]]:
    """Return the strata of all pairs that could be judged: the pools, and what lies below them.

    Only pairs of queries with public labels count, and no query is its own candidate. Within
    the pool every pair was put to the judges, so its inclusion probability is the share that has
    a label. Strata below the pool have the sizes that they had when they were drawn; where labels
    are hidden, the size of the public part is not known: there N is null, and the probability is
    that of the draw, times the share of the public pairs drawn that have a label. Of a pool that
    is judged in rounds it is null: each pair has its own in each round, in the table rounds.
    """
    if folder.info.get("schema_version", 1) < KNOWS_CAMPAIGNS:
        return _strata_by_name(folder)
    counted = _counted(folder)
    has_hidden = folder.info["hidden_percent"] > 0
    drawn = {sample["campaign"]: sample["strata"] for sample in folder.info["samples"]}
    strata = []
    for campaign in folder.info["campaigns"]:
        slug = campaign["slug"]
        pool = counted[slug, POOL]
        row = _stratum(POOL, pool.n_asked, pool.n_labelled)
        if campaign.get("rounds"):  # each pair has a chance of its own in each round
            n_pool = len(set(folder.rows("pool", "query_id", "image_id")))
            row |= {"N": n_pool, "inclusion_probability": None}
        strata.append({"campaign": slug, **row})
        for stratum in drawn.get(slug, ()):
            of = counted[slug, stratum["name"]]
            row = _stratum(stratum["name"], stratum["n_pairs"], of.n_labelled)
            if has_hidden:
                chance = of.chance / of.n_asked if of.n_asked else None
                row |= {"N": None, "inclusion_probability": chance}
            strata.append({"campaign": slug, **row})
    if not any(drawn.values()):
        n_pool = sum(row["N"] for row in strata)
        strata.append({"campaign": "", **_stratum(OUTSIDE, _n_universe(folder) - n_pool, 0)})
    return strata


def _counted(folder: Folder) -> dict[tuple[str, str], _Counted]:
    """Count the pairs of public queries by campaign and stratum."""
    counted: dict[tuple[str, str], _Counted] = defaultdict(_Counted)
    hidden, labelled = folder.hidden_queries, _labelled(folder)
    columns = ("query_id", "image_id", "campaign", "stratum", "inclusion")
    for query, image, campaign, stratum, inclusion in folder.rows("pairs", *columns):
        if query not in hidden:
            count = counted[campaign, stratum]
            count.n_asked += 1
            if (query, image) in labelled:
                count.n_labelled += 1
                count.chance += inclusion
    return counted


def _labelled(folder: Folder) -> set[tuple[str, str]]:
    labels = folder.table("labels", ["query_id", "image_id", "label"])
    return set(rows_of(labels.filter(pc.is_valid(labels["label"])), "query_id", "image_id"))


def _n_universe(folder: Folder) -> int:
    """Return how many pairs public queries make with all that models rank."""
    is_candidate = dict(folder.rows("images", "image_id", "is_candidate"))
    n_ranked = sum(is_candidate.values())
    return sum(
        n_ranked - is_candidate[query]
        for query, split in folder.rows("queries", "query_id", "split")
        if split == "public"
    )


def _strata_by_name(folder: Folder) -> list[dict[str, Any]]:
    """Return what schema versions 1 and 2 held: all campaigns' strata of a name counted as one."""
    n_asked: Counter[str] = Counter()
    n_labelled: Counter[str] = Counter()
    for (_, stratum), count in _counted(folder).items():
        n_asked[stratum] += count.n_asked
        n_labelled[stratum] += count.n_labelled
    n_pool = n_asked[POOL]
    strata = [_stratum(POOL, n_pool, n_labelled[POOL])]
    drawn = [count for sample in folder.info["samples"] for count in sample["strata"]]
    strata += [
        _stratum(count["name"], count["n_pairs"], n_labelled[count["name"]]) for count in drawn
    ]
    if not drawn:
        strata.append(_stratum(OUTSIDE, _n_universe(folder) - n_pool, 0))
    return strata


def _stratum(name: str, n_pairs: int, n_labelled: int) -> dict[str, Any]:
    return {
        "stratum": name,
        "N": n_pairs,
        "n": n_labelled,
        "inclusion_probability": share(n_labelled, n_pairs),
    }
