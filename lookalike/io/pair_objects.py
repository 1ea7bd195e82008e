"""Pairs in JSON that is nested by query, as pytrec_eval, BEIR, ranx and search engines write it.

{query: {candidate: value}} · {"query": q, "results": [{"doc_id": d, "score": s}]} ·
{"query": q, "scores": {candidate: value}} · [{"query": q, "candidate": d, "score": s}]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText
from lookalike.io.pair_columns import CANDIDATE, QUERY, VALUES, Value, plain_column

Pairs = list[tuple[str, str, object]]
WRAPPERS = ("labels", "qrels", "run", "results", "scores")  # keys that may hold all of it


def nested_pairs(file: JsonText, value: Value) -> Pairs:
    """Return the pairs of an object {query: {candidate: value}}, perhaps under one of WRAPPERS.

    Raises:
        FormatError: it is none, or a key stands there twice.
    """
    held: Any = file.value
    for name in WRAPPERS:
        inner = held.get(name) if isinstance(held, dict) else None
        if isinstance(inner, dict) and inner and all(_is_object(one) for one in inner.values()):
            held = inner
    pairs = expanded(held, value) if isinstance(held, dict) else None
    if pairs is None:
        reason = "the file is not a JSON array of entries, nor an object {query: {image: value}}"
        raise FormatError(file.path, 1, reason)
    _refuse_repeated_keys(file)
    return pairs


def expanded(held: Mapping[str, Any], value: Value) -> Pairs | None:
    """Return the pairs of an object of one query or of several; None if it is one pair."""
    queries = [name for name in held if plain_column(name) in QUERY]
    if len(queries) == 1 and isinstance(held[queries[0]], (str, int)):
        query = str(held[queries[0]])
        lists = [one for one in held.values() if _is_nested(one, value)]
        return list(_of_query(query, lists[0], value)) if len(lists) == 1 else None
    if held and all(_is_object(one) for one in held.values()):
        return [pair for query, one in held.items() for pair in _of_query(query, one, value)]
    return None


def _is_object(one: object) -> bool:
    return isinstance(one, dict) and not any(isinstance(v, (dict, list)) for v in one.values())


def _is_nested(one: object, value: Value) -> bool:
    if isinstance(one, dict):
        return bool(one) and _is_object(one)
    return isinstance(one, list) and bool(one) and all(_entry(e, value) for e in one)


def _of_query(query: str, held: Any, value: Value) -> Iterator[tuple[str, str, object]]:
    if isinstance(held, dict):
        for candidate, one in held.items():
            yield query, candidate, one
    else:
        for entry in held:
            candidate, one = _entry(entry, value) or ("", None)
            yield query, candidate, one


def _entry(entry: object, value: Value) -> tuple[str, object] | None:
    """Return candidate and value of an entry of a list: an object, or a list of the two."""
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
        return entry[0], entry[1]
    if not isinstance(entry, dict):
        return None
    names = [name for name in entry if plain_column(name) in CANDIDATE]
    values = [name for name in entry if plain_column(name) in VALUES[value]]
    if len(names) != 1 or len(values) != 1 or not isinstance(entry[names[0]], (str, int)):
        return None
    return str(entry[names[0]]), entry[values[0]]


def _refuse_repeated_keys(file: JsonText) -> None:
    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(file.path, None, f"the key {twice!r} stands twice in one object")
        return held

    json.loads(file.text, object_pairs_hook=checked)
