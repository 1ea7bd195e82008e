"""From judgements and rulings to labels by each rule, and to the pairs without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.agreement.dawid_skene import label_chances
from lookalike.agreement.grades import NO_GRADE, Scale, median_grades
from lookalike.agreement.majority import majority
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.io.tables import Qrels
from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import RULES
from lookalike.release.format.tables import coded, codes_in, named, numbers

_RULE_NAMES = {"majority": "negative", "undecided": "undecided", "unanimous": "unanimous"}
OWN_RULE = {"negative": "majority", "undecided": "undecided"}


@dataclass(frozen=True)
class Votes:
    """Judgements as codes.

    Attributes:
        ids: names of images, ascending.
        keys: shape (n_pairs,), query code * len(ids) + candidate code of each pair with a
            judgement or a ruling, ascending.
        judges: names of the judges.
        pair_of, judge_of, is_similar: shape (n_votes,), the votes that count.
        n_other: shape (n_pairs,), can't tell and skip.
        ruling: shape (n_pairs,), 1 or 0, -1 without one.
        scale: the grades; None where a pair is similar or different.
        grade: shape (n_votes,), `NO_GRADE` without a scale.
        ruled_grade: shape (n_pairs,), `NO_GRADE` without one.
    """

    ids: tuple[str, ...]
    keys: Ints
    judges: tuple[str, ...]
    pair_of: Ints
    judge_of: Ints
    is_similar: Ints
    n_other: Ints
    ruling: Ints
    scale: Scale | None
    grade: Ints
    ruled_grade: Ints

    @property
    def grade_counts(self) -> Ints:
        """Votes for each grade, shape (n_pairs, n_grades); no columns without a scale."""
        n, n_grades = self.keys.size, self.scale.n_grades if self.scale else 0
        if not n_grades:
            return np.zeros((n, 0), np.int64)
        cells = self.pair_of * n_grades + self.grade
        return np.bincount(cells, minlength=n * n_grades).reshape(n, n_grades)

    @property
    def counts(self) -> Ints:
        """Votes for different and for similar, shape (n_pairs, 2)."""
        n = self.keys.size
        similar = np.bincount(self.pair_of, weights=self.is_similar, minlength=n).astype(np.int64)
        return np.stack([np.bincount(self.pair_of, minlength=n) - similar, similar], axis=1)


def collect_votes(
    ids: tuple[str, ...],
    judgements: pa.Table,
    rulings: pa.Table,
    scale: Scale | None = None,
) -> Votes:
    """Code the judgements of a release.

    Raises:
        ReleaseError: a judgement names an image that the table of images lacks, or a grade is
            missing, unknown, or on the other side than the answer.
    """
    keys = pair_keys(ids, judgements, "judgements")
    ruled = pair_keys(ids, rulings, "rulings")
    pairs = np.union1d(keys, ruled)
    judges, judge_of = coded(judgements["annotator"])
    answer = judgements["answer"]
    is_vote = _is_in(answer, ["similar", "different"]) & _bools(judgements["is_counted"])
    place = np.searchsorted(pairs, keys)
    ruling = np.full(pairs.size, -1, np.int64)
    ruling[np.searchsorted(pairs, ruled)] = _is_in(rulings["answer"], ["similar"])
    given = _grades(judgements, is_vote, scale, "judgements")
    by_ruling = _grades(rulings, np.ones(ruled.size, np.bool_), scale, "rulings")
    ruled_grade = np.full(pairs.size, NO_GRADE, np.int64)
    ruled_grade[np.searchsorted(pairs, ruled)] = by_ruling
    no_vote = _is_in(answer, ["cant_tell", "skip"])
    return Votes(
        ids=ids,
        keys=pairs,
        judges=judges,
        pair_of=place[is_vote],
        judge_of=judge_of[is_vote],
        is_similar=_is_in(answer, ["similar"])[is_vote].astype(np.int64),
        n_other=np.bincount(place[no_vote], minlength=pairs.size),
        ruling=ruling,
        scale=scale,
        grade=given[is_vote],
        ruled_grade=ruled_grade,
    )


def _grades(table: pa.Table, is_vote: Bools, scale: Scale | None, name: str) -> Ints:
    """Return the grade of each row, `NO_GRADE` where there is none."""
    has_grades = "grade" in table.schema.names
    if has_grades != bool(scale):
        raise ReleaseError(
            f"data/{name}.parquet has {'' if has_grades else 'no '}grades where release.json names "
            f"{'a' if scale else 'no'} scale"
        )
    if not has_grades or scale is None:
        return np.full(table.num_rows, NO_GRADE, np.int64)
    grades = np.asarray(table["grade"].fill_null(NO_GRADE).to_numpy(), np.int64)
    is_similar = _is_in(table["answer"], ["similar"])
    is_right = np.where(
        is_vote,
        (grades >= 0) & (grades < scale.n_grades) & ((grades >= scale.similar_from) == is_similar),
        True,
    )
    if not is_right.all():
        row = int(np.flatnonzero(~is_right)[0])
        raise ReleaseError(
            f"data/{name}.parquet has the grade {grades[row]} in row {row + 1:,}, which does not "
            f"go with the answer “{table['answer'][row].as_py()}”"
        )
    return grades


def label_columns(votes: Votes, tie_rule: str) -> dict[str, Any]:
    """Return the columns of the table labels, one row for each pair with a vote or a ruling."""
    different, similar = votes.counts.T
    is_ruled = votes.ruling >= 0
    kept = (different + similar > 0) | is_ruled
    chances = label_chances(
        votes.pair_of, votes.judge_of, votes.is_similar, votes.keys.size, len(votes.judges)
    )[:, 1]
    by_rule: dict[str, tuple[Bools, Bools]] = {}
    for rule in RULES[:-1]:
        outcome = majority(similar, different, _RULE_NAMES[rule])
        by_rule[rule] = (outcome.is_similar, outcome.is_decided)
    by_rule["dawid_skene"] = (np.nan_to_num(chances) > 0.5, ~np.isnan(chances))
    columns = {}
    for rule, (is_similar, is_decided) in by_rule.items():
        values = np.where(is_ruled, votes.ruling == 1, is_similar)[kept].astype(np.int8)
        columns[rule] = pa.array(values, mask=~(is_decided | is_ruled)[kept])
    n = len(votes.ids)
    more = {}
    if votes.scale:
        medians, _ = median_grades(votes.grade_counts)
        _, has_label = by_rule[OWN_RULE[tie_rule]]
        grades = np.where(is_ruled, votes.ruled_grade, medians)[kept].astype(np.int8)
        more["grade"] = pa.array(grades, mask=~(has_label | is_ruled)[kept])
    return more | {
        "query_id": named(votes.ids, votes.keys[kept] // n),
        "image_id": named(votes.ids, votes.keys[kept] % n),
        "n_similar": similar[kept].astype(np.int32),
        "n_different": different[kept].astype(np.int32),
        "is_ruled": is_ruled[kept],
        "label": columns[OWN_RULE[tie_rule]],
        **columns,
        "p_dawid_skene": pa.array(chances[kept], pa.float64(), from_pandas=True),
    }


def excluded_columns(
    votes: Votes, pairs: pa.Table, labels: pa.Table, uncompared: Mapping[str, Bools]
) -> dict[str, Any]:
    """Return the columns of the table excluded.

    Args:
        votes: from `collect_votes`.
        pairs: the pairs put to the judges.
        labels: the table of labels.
        uncompared: why labelled pairs are not compared, the first reason that holds; each of
            shape (n_pairs of `pairs`,).
    """
    n = len(votes.ids)
    asked = pair_keys(votes.ids, pairs, "pairs")
    labelled = pair_keys(votes.ids, labels, "labels")
    decided = labelled[_bools(pc.is_valid(labels["label"]))]
    answered = votes.keys[votes.n_other > 0]
    reason = np.full(asked.size, "unjudged", object)
    reason[np.isin(asked, answered)] = "no_vote"
    reason[np.isin(asked, labelled)] = "tie"
    is_out = ~np.isin(asked, decided)
    for name, holds in uncompared.items():
        reason[holds & ~is_out] = name
        is_out |= holds
    order = np.argsort(asked[is_out])
    out = asked[is_out][order]
    return {
        "query_id": named(votes.ids, out // n),
        "image_id": named(votes.ids, out % n),
        "reason": reason[is_out][order].tolist(),
    }


def make_qrels(labels: pa.Table, rule: str = "label") -> Qrels:
    """Return the decided labels of a rule, with their grades where there are any.

    Raises:
        ReleaseError: none is decided.
    """
    kept = labels.filter(pc.is_valid(labels[rule]))
    if not kept.num_rows:
        raise ReleaseError(f"no pair has a label by the rule “{rule}”")
    query_ids, queries = coded(kept["query_id"])
    candidate_ids, candidates = coded(kept["image_id"])
    values = kept[rule].to_numpy().astype(np.int8)
    order = np.lexsort((candidates, queries))
    qrels = Qrels(query_ids, candidate_ids, queries[order], candidates[order], values[order])
    if rule != "label" or "grade" not in kept.schema.names:
        return qrels
    return replace(qrels, grades=kept["grade"].to_numpy().astype(np.int64)[order])


def pair_keys(ids: tuple[str, ...], table: pa.Table, name: str) -> Ints:
    """Return query code * len(ids) + candidate code of each row.

    Raises:
        ReleaseError: a row names an image that is not among `ids`.
    """
    queries, candidates = (codes_in(ids, table[column]) for column in ("query_id", "image_id"))
    if (queries < 0).any() or (candidates < 0).any():
        raise ReleaseError(f"data/{name}.parquet names an image that data/images.parquet lacks")
    return queries * len(ids) + candidates


def _is_in(column: pa.ChunkedArray, values: list[str]) -> Bools:
    is_encoded = pa.types.is_dictionary(column.type)
    names, codes = coded(column if is_encoded else column.dictionary_encode())
    return np.array([name in values for name in names], np.bool_)[codes]


def _bools(column: pa.ChunkedArray) -> Bools:
    return np.asarray(numbers(column), np.bool_)


def share(part: Floats | int, whole: int) -> float | None:
    """Return a part of a whole, None where there is none."""
    return float(part) / whole if whole else None
