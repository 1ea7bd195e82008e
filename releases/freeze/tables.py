"""Write the primary tables of a release from a snapshot, without a Python object for each row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lookalike.core.arrays import Ints
from lookalike.release.layout import TABLES
from lookalike.release.tables import ROWS, TableWriter, named, write_table
from releases.freeze.scope import NEAR, Images, Subjects
from releases.freeze.snapshot import Row, Snapshot

PAIRS = """
select q.query_id as query, q.candidate_id as image, q.campaign_id as campaign,
       coalesce(s.strata -> d.stratum::int ->> 'name', 'pool') as stratum,
       coalesce(d.inclusion, 1.0) as inclusion
from annotation_question q
left join evaluation_sample s on s.campaign_id = q.campaign_id
left join evaluation_sampledpair d
    on d.sample_id = s.id and d.query_id = q.query_id and d.candidate_id = q.candidate_id
where q.campaign_id = any(%s) and q.kind = 'pair'
"""
PROPOSALS = """
select o.query_id as query, o.candidate_id as image, o.source_id as source, o.rank + 1 as rank,
       o.score, q.position
from pooling_proposal o join pooling_poolsource s on s.id = o.source_id
join pooling_poolquery q on q.pool_id = o.pool_id and q.image_id = o.query_id
where o.pool_id = any(%s) and s.done_at is not null
"""
SOURCES = """
select s.id, s.spec, p.slug from pooling_poolsource s join pooling_pool p on p.id = s.pool_id
where s.pool_id = any(%s) and s.done_at is not null order by p.slug, s.position
"""
MEMBERS = """
select id, annotator_id from annotation_panelmember where campaign_id = any(%s)
"""
JUDGEMENTS = """
select q.query_id as query, q.candidate_id as image, j.member_id as member, j.answer, e.reason,
       not j.is_surplus and j.answer in ('similar', 'different') as is_counted, e.mode,
       floor(extract(epoch from e.decided_at) / 3600)::bigint as hour,
       least(round(e.visible_ms, -2), 2147483600)::int as visible_ms, e.guideline_version,
       q.campaign_id as campaign
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_judgementevent e on e.id = j.event_id
where q.campaign_id = any(%s) and q.kind = 'pair'
"""
RULINGS = """
select q.query_id as query, q.candidate_id as image, r.answer
from annotation_adjudication r join annotation_question q on q.id = r.question_id
where q.campaign_id = any(%s) and q.kind = 'pair'
"""
_PAIR = {"query": pa.int64(), "image": pa.int64()}
_TEXT = pa.dictionary(pa.int32(), pa.string())
PAIR_KINDS = {**_PAIR, "campaign": pa.int64(), "stratum": _TEXT, "inclusion": pa.float64()}
PROPOSAL_KINDS = {**_PAIR, "source": pa.int64(), "rank": pa.int32(), "score": pa.float64(),
                  "position": pa.int64()}  # fmt: skip
JUDGEMENT_KINDS = {
    **_PAIR, "member": pa.int64(), "answer": _TEXT, "reason": _TEXT, "is_counted": pa.bool_(),
    "mode": _TEXT, "hour": pa.int64(), "visible_ms": pa.int32(), "guideline_version": pa.int32(),
    "campaign": pa.int64(),
}  # fmt: skip
RULING_KINDS = {**_PAIR, "answer": _TEXT}


def write_images(
    view: Snapshot, subjects: Subjects, folder: Path, file_of: Callable[[Row], str]
) -> None:
    """Write the table of images; `file_of` says where an image lies in the release, or ""."""
    images = subjects.images
    rows = [images.rows[at] for at in images.first_row.tolist()]
    ranked = [row[0] for row in images.rows if row[2] in subjects.ranked]
    ranked_codes = set(images.code(ranked).tolist())
    write_table(
        folder / TABLES["images"].path,
        TABLES["images"].schema,
        {
            "image_id": list(images.names),
            "sha256": images.sha256,
            "path": [row[3] for row in rows],
            "product_id": [row[4] for row in rows],
            "width": [row[5] for row in rows],
            "height": [row[6] for row in rows],
            "format": [row[7] for row in rows],
            "n_bytes": [row[8] for row in rows],
            "perceptual_hash": [row[9] for row in rows],
            "duplicate_group": _groups(images, view.rows(NEAR, [sorted(_catalogs(images))])),
            "attributes": _json_texts([row[10] for row in rows]),
            "is_candidate": [code in ranked_codes for code in range(len(rows))],
            "file": [file_of(row) for row in rows],
        },
    )


def _catalogs(images: Images) -> set[int]:
    return {row[2] for row in images.rows}


def _json_texts(given: list[str]) -> list[str]:
    """Return JSON in one way of writing it; the same text is read once."""
    written = {
        text: json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True)
        for text in set(given)
    }
    return [written[text] for text in given]


def _groups(images: Images, near: Sequence[Row]) -> list[str]:
    """Name each group of near duplicates by its first image; "" for an image without any."""
    first = list(range(len(images.names)))

    def head(code: int) -> int:
        while first[code] != code:
            first[code] = first[first[code]]
            code = first[code]
        return code

    met: set[int] = set()
    for one, other in near:
        a, b = (int(code) for code in images.code([one, other]))
        if a != b:
            met |= {a, b}
            low, high = sorted((head(a), head(b)))
            first[high] = low
    return [images.names[head(code)] if code in met else "" for code in range(len(first))]


def write_queries(subjects: Subjects, folder: Path) -> None:
    """Write the table of queries, in the order in which they were drawn."""
    hidden = set(subjects.hidden.tolist())
    write_table(
        folder / TABLES["queries"].path,
        TABLES["queries"].schema,
        {
            "query_id": named(subjects.images.names, subjects.queries),
            "position": list(range(subjects.queries.size)),
            "split": [
                "hidden" if code in hidden else "public" for code in subjects.queries.tolist()
            ],
        },
    )


def write_pairs(view: Snapshot, subjects: Subjects, folder: Path) -> tuple[Ints, Ints]:
    """Write the pairs put to the judges; return the database ids of both images of each."""
    found = view.columns(PAIRS, [subjects.campaign_ids], PAIR_KINDS)
    rows = _Rows(subjects, found)
    rows.write(
        folder,
        "pairs",
        rows.by_pair(),
        campaign=_texts(found["campaign"], subjects.slugs),
        stratum=found["stratum"],
        inclusion=found["inclusion"],
    )
    return found["query"].to_numpy(), found["image"].to_numpy()


def write_pool(view: Snapshot, subjects: Subjects, folder: Path, model_ids: dict[str, str]) -> None:
    """Write who proposed what at which rank."""
    sources = view.rows(SOURCES, [subjects.pool_ids])
    found = view.columns(PROPOSALS, [subjects.pool_ids], PROPOSAL_KINDS)
    place = {source: at for at, (source, _, _) in enumerate(sources)}
    places = _looked_up(found["source"], place)
    order = np.lexsort((found["rank"].to_numpy(), found["position"].to_numpy(), places))
    _Rows(subjects, found).write(
        folder,
        "pool",
        order,
        model_id=_texts(found["source"], {pk: model_ids[spec] for pk, spec, _ in sources}),
        rank=found["rank"],
        score=found["score"],
        pool=_texts(found["source"], {pk: slug for pk, _, slug in sources}),
    )


def judges_of(view: Snapshot, subjects: Subjects) -> dict[int, int]:
    """Return the account of each seat on a panel."""
    return dict(view.rows(MEMBERS, [subjects.campaign_ids]))


def write_judgements(
    view: Snapshot,
    subjects: Subjects,
    folder: Path,
    hidden_folder: Path | None,
    names: Mapping[int, str],
) -> None:
    """Write judgements and rulings; those of hidden queries go into the other folder.

    Args:
        view: the moment that is frozen.
        subjects: what is frozen.
        folder: of the release.
        hidden_folder: of the labels that are kept back, None where there are none.
        names: pseudonym of each account on a panel.
    """
    member_of = judges_of(view, subjects)
    found = view.columns(JUDGEMENTS, [subjects.campaign_ids], JUDGEMENT_KINDS)
    annotator = _texts(found["member"], {pk: names[person] for pk, person in member_of.items()})
    judged = _Rows(subjects, found)
    columns = {
        **{name: found[name] for name in ("answer", "reason", "is_counted", "mode")},
        "annotator": annotator,
        "decided_at": _hours(found["hour"]),
        "visible_ms": found["visible_ms"],
        "guideline_version": found["guideline_version"],
        "campaign": _texts(found["campaign"], subjects.slugs),
    }
    order = judged.by_pair(annotator.indices.to_numpy())
    ruled = view.columns(RULINGS, [subjects.campaign_ids], RULING_KINDS)
    rulings = _Rows(subjects, ruled)
    for place, is_hidden in ((folder, False), (hidden_folder, True)):
        if place is not None:
            judged.write(place, "judgements", judged.kept(order, is_hidden), **columns)
            kept = rulings.kept(rulings.by_pair(), is_hidden)
            rulings.write(place, "rulings", kept, answer=ruled["answer"])


class _Rows:
    """Rows about pairs of images, in the order of the database."""

    def __init__(self, subjects: Subjects, found: pa.Table) -> None:
        self._images = subjects.images
        self._hidden = subjects.hidden
        self.queries = subjects.images.code(found["query"].to_numpy())
        self.candidates = subjects.images.code(found["image"].to_numpy())

    def by_pair(self, third: Ints | None = None) -> Ints:
        """Return the order of the rows by query, image and a third number."""
        keys = self.queries * len(self._images.names) + self.candidates
        order: Ints = (
            np.argsort(keys, kind="stable") if third is None else np.lexsort((third, keys))
        )
        return order

    def kept(self, order: Ints, is_hidden: bool) -> Ints:
        """Return what of an order is of hidden queries, or of the others."""
        mask = np.isin(self.queries[order], self._hidden)
        kept: Ints = order[mask == is_hidden]
        return kept

    def write(self, folder: Path, table: str, order: Ints, **columns: Any) -> None:
        """Write rows in an order, a block in memory at a time."""
        texts = pa.array(self._images.names, pa.string())
        with TableWriter(folder / TABLES[table].path, TABLES[table].schema) as writer:
            for start in range(0, order.size, ROWS):
                rows = order[start : start + ROWS]
                taken = {name: column.take(rows) for name, column in columns.items()}
                taken["query_id"] = named(texts, self.queries[rows])
                taken["image_id"] = named(texts, self.candidates[rows])
                writer.add(taken)


def _looked_up(column: pa.ChunkedArray, place: Mapping[int, int]) -> Ints:
    """Return the value of each id of a column; every id is known."""
    known = np.array(sorted(place), np.int64)
    values = np.array([place[pk] for pk in known.tolist()], np.int64)
    found: Ints = values[np.searchsorted(known, column.to_numpy())] if known.size else known
    return found


def _texts(column: pa.ChunkedArray, text_of: Mapping[int, str]) -> pa.DictionaryArray:
    """Return the text of each id of a column; codes are in the order of the texts."""
    texts = sorted(set(text_of.values()))
    place = {text: code for code, text in enumerate(texts)}
    codes = _looked_up(column, {pk: place[text] for pk, text in text_of.items()})
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), pa.array(texts, pa.string()))


def _hours(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return hours since 1970 as text."""
    hours, codes = np.unique(column.to_numpy(), return_inverse=True)
    texts = np.datetime_as_string(hours.astype("datetime64[h]").astype("datetime64[m]"))
    words = pa.array([f"{text}Z" for text in texts.tolist()], pa.string())
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), words)
