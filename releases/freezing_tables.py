"""Write the primary tables of a release from a snapshot, block by block."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from annotation.pseudonyms import pseudonyms
from catalog.formats.tables import Ints
from releases.layout import TABLES
from releases.snapshot import Row, Snapshot
from releases.subjects import NEAR, Images, Subjects
from releases.tables import TableWriter, named, write_table

PAIRS = """
select q.query_id, q.candidate_id, c.slug,
       coalesce(s.strata -> d.stratum::int ->> 'name', 'pool'), coalesce(d.inclusion, 1.0)
from annotation_question q join annotation_campaign c on c.id = q.campaign_id
left join evaluation_sample s on s.campaign_id = c.id
left join evaluation_sampledpair d
    on d.sample_id = s.id and d.query_id = q.query_id and d.candidate_id = q.candidate_id
join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
where q.campaign_id = any(%s) and q.kind = 'pair'
order by a.sha256 collate "C", b.sha256 collate "C"
"""
PROPOSALS = """
select o.query_id, o.candidate_id, s.spec, o.rank + 1, o.score, p.slug
from pooling_proposal o join pooling_poolsource s on s.id = o.source_id
join pooling_pool p on p.id = o.pool_id
join pooling_poolquery q on q.pool_id = o.pool_id and q.image_id = o.query_id
where o.pool_id = any(%s) and s.done_at is not null
order by p.slug, s.position, q.position, o.rank
"""
MEMBERS = """
select id, annotator_id from annotation_panelmember where campaign_id = any(%s)
"""
JUDGEMENTS = """
select q.query_id, q.candidate_id, m.pseudonym, j.answer, e.reason,
       not j.is_surplus and j.answer in ('similar', 'different'), e.mode,
       to_char(date_trunc('hour', e.decided_at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI"Z"'),
       least(round(e.visible_ms, -2), 2147483600)::int, e.guideline_version, c.slug
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_judgementevent e on e.id = j.event_id
join annotation_campaign c on c.id = q.campaign_id
join unnest(%s::bigint[], %s::text[]) as m(id, pseudonym) on m.id = j.member_id
join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
where q.campaign_id = any(%s) and q.kind = 'pair'
order by a.sha256 collate "C", b.sha256 collate "C", m.pseudonym
"""
RULINGS = """
select q.query_id, q.candidate_id, r.answer
from annotation_adjudication r join annotation_question q on q.id = r.question_id
join catalog_image a on a.id = q.query_id join catalog_image b on b.id = q.candidate_id
where q.campaign_id = any(%s) and q.kind = 'pair'
order by a.sha256 collate "C", b.sha256 collate "C"
"""


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
            "attributes": [_json(row[10]) for row in rows],
            "is_candidate": [code in ranked_codes for code in range(len(rows))],
            "file": [file_of(row) for row in rows],
        },
    )


def _catalogs(images: Images) -> set[int]:
    return {row[2] for row in images.rows}


def _json(value: Any) -> str:
    given = json.loads(value) if isinstance(value, str) else value
    return json.dumps(given, ensure_ascii=False, sort_keys=True)


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
    found: list[Ints] = []
    with TableWriter(folder / TABLES["pairs"].path, TABLES["pairs"].schema) as writer:
        for block in view.blocks(PAIRS, [subjects.campaign_ids]):
            queries, candidates, slugs, strata, chances = zip(*block, strict=True)
            writer.add(
                {
                    **_pair(subjects, queries, candidates),
                    "campaign": slugs,
                    "stratum": strata,
                    "inclusion": chances,
                }
            )
            found.append(np.array([queries, candidates], np.int64))
    both = np.concatenate(found, axis=1) if found else np.zeros((2, 0), np.int64)
    return both[0], both[1]


def write_pool(view: Snapshot, subjects: Subjects, folder: Path, model_ids: dict[str, str]) -> None:
    """Write who proposed what at which rank."""
    with TableWriter(folder / TABLES["pool"].path, TABLES["pool"].schema) as writer:
        for block in view.blocks(PROPOSALS, [subjects.pool_ids]):
            queries, candidates, specs, ranks, scores, slugs = zip(*block, strict=True)
            writer.add(
                {
                    **_pair(subjects, queries, candidates),
                    "model_id": [model_ids[spec] for spec in specs],
                    "rank": ranks,
                    "score": scores,
                    "pool": slugs,
                }
            )


def write_judgements(
    view: Snapshot, subjects: Subjects, folder: Path, hidden_folder: Path | None, secret: bytes
) -> None:
    """Write judgements and rulings; those of hidden queries go into the other folder."""
    members = view.rows(MEMBERS, [subjects.campaign_ids])
    names = pseudonyms((annotator for _, annotator in members), secret)
    ids = [member for member, _ in members]
    told = [names[annotator] for _, annotator in members]
    for table, statement, parameters in (
        ("judgements", JUDGEMENTS, [ids, told, subjects.campaign_ids]),
        ("rulings", RULINGS, [subjects.campaign_ids]),
    ):
        columns = TABLES[table].schema.names[2:]
        with ExitStack() as stack:
            public, hidden = (
                stack.enter_context(TableWriter(place / TABLES[table].path, TABLES[table].schema))
                if place
                else None
                for place in (folder, hidden_folder)
            )
            for block in view.blocks(statement, parameters):
                queries, candidates, *others = zip(*block, strict=True)
                whole = pa.table(
                    {
                        **_pair(subjects, queries, candidates),
                        **dict(zip(columns, map(pa.array, others), strict=True)),
                    }
                )
                is_hidden = np.isin(subjects.images.code(queries), subjects.hidden)
                _split(whole, is_hidden, public, hidden)


def _split(
    whole: pa.Table, is_hidden: Any, public: TableWriter | None, hidden: TableWriter | None
) -> None:
    for writer, kept in ((public, ~is_hidden), (hidden, is_hidden)):
        if writer is not None and kept.any():
            part = whole.filter(pa.array(kept))
            writer.add({name: part[name] for name in part.schema.names})


def _pair(
    subjects: Subjects, queries: Sequence[int], candidates: Sequence[int]
) -> dict[str, pa.Array]:
    images = subjects.images
    return {
        "query_id": named(images.names, images.code(queries)),
        "image_id": named(images.names, images.code(candidates)),
    }
