"""From answers to triplets to majorities, figures and a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from lookalike.release.format.column_text import csv_cell
from lookalike.release.format.folder import Folder
from lookalike.release.labelling import share

Row = dict[str, Any]
Question = tuple[str, str, str, str, str]  # set, anchor, both candidates by name, condition


def label_rows(answers: Sequence[Row]) -> list[Row]:
    """Return the rows of the table triplet_labels, ordered by question."""
    n_first: Counter[Question] = Counter()
    n_answers: Counter[Question] = Counter()
    for row in answers:
        first, second = sorted((row["closer_id"], row["farther_id"]))
        key = (row["set"], row["anchor_id"], first, second, row["condition"])
        n_answers[key] += 1
        n_first[key] += row["closer_id"] == first
    return [_label(key, n, n_first[key]) for key, n in sorted(n_answers.items())]


def _label(key: Question, n: int, n_first: int) -> Row:
    name, anchor, first, second, condition = key
    closer, farther = (first, second) if 2 * n_first >= n else (second, first)
    n_closer = max(n_first, n - n_first)
    return {
        "set": name,
        "anchor_id": anchor,
        "closer_id": closer,
        "farther_id": farther,
        "condition": condition,
        "n_votes": n,
        "n_closer": n_closer,
        "is_decided": 2 * n_closer > n,
    }


def triplet_figures(of: str, labels: Sequence[Row]) -> Row:
    """Return what conditional.json says of a set."""
    rows = [row for row in labels if row["set"] == of]
    n_of = Counter(row["condition"] for row in rows)
    return {
        "set": of,
        **_figures(rows),
        "by_condition": [
            {"condition": name, **_figures([row for row in rows if row["condition"] == name])}
            for name in sorted(n_of, key=lambda name: (-n_of[name], name))
        ],
    }


def _figures(rows: Sequence[Row]) -> Row:
    """Count; the human ceiling is the share of the answers with the majority of their triplet."""
    n_votes = sum(row["n_votes"] for row in rows)
    return {
        "n_triplets": len(rows),
        "n_decided": sum(row["is_decided"] for row in rows),
        "n_votes": n_votes,
        "human_ceiling": share(sum(row["n_closer"] for row in rows), n_votes),
    }


def triplets_csv(release: Folder, of: str) -> Iterator[bytes]:
    """Yield the decided triplets of a set by path, as importers of triplets read them."""
    yield b"anchor,closer,farther,condition,n_votes,n_closer\n"
    path = release.path_of
    for row in release.table("triplet_labels").to_pylist():
        if row["set"] == of and row["is_decided"]:
            images = (path[row[name]] for name in ("anchor_id", "closer_id", "farther_id"))
            cells = (*images, row["condition"], row["n_votes"], row["n_closer"])
            yield (",".join(map(csv_cell, cells)) + "\n").encode()
