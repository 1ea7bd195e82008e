"""Read what people type into commands and forms: catalogs, pools, models, queries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from django.db.models import QuerySet

from catalog.models import Catalog
from lookalike.backbones.errors import SpecError
from lookalike.backbones.spec import parse_spec
from lookalike.core.errors import Refused
from lookalike.pooling.candidate_rule import CandidateRule, CandidateRuleError, attributes_in
from lookalike.pooling.presets import PRESETS, expanded
from lookalike.pooling.query_rule import QueryRule, QueryRuleError, parse_filters, parse_names
from lookalike.pooling.source_spec import (
    UPLOADED,
    SourceKind,
    Wish,
    canonical,
    source_kind,
    split_depth,
)
from pooling.models import Pool
from pooling.new_pool.requests import check_installed

MAX_SHOWN = 10
Row = TypeVar("Row", Catalog, Pool)


def catalog_by_slug(slug: str, field: str) -> Catalog:
    """Return a catalog.

    Raises:
        Refused: there is none of that slug; names those that there are.
    """
    return _by_slug(Catalog.objects.all(), slug, "catalog", field)


def pool_by_slug(slug: str) -> Pool:
    """Return a pool.

    Raises:
        Refused: there is none of that slug; names those that there are.
    """
    return _by_slug(Pool.objects.all(), slug, "pool", "pool")


def _by_slug(rows: QuerySet[Row], slug: str, what: str, field: str) -> Row:
    row = rows.filter(slug=slug).first()
    if row is None:
        known = sorted(rows.values_list("slug", flat=True))[:MAX_SHOWN]
        there_is = f"there is {', '.join(known)}" if known else f"there is no {what} yet"
        raise Refused(field, f"no {what} is called {slug!r}; {there_is}.")
    return row


def model_specs(text: str) -> list[str]:
    """Return the specs in a list parted by commas or lines, with presets spelled out.

    Raises:
        Refused: a word is neither a spec nor a preset, or there is no word at all.
    """
    words = [word.strip() for line in text.splitlines() for word in line.split(",")]
    specs = expanded([word for word in words if word])
    if not specs:
        raise Refused("models", "name at least one model or preset.")
    try:
        return list(dict.fromkeys(_with_vectors(spec) for spec in specs))
    except SpecError as problem:
        presets = ", ".join(preset.name for preset in PRESETS)
        raise Refused("models", f"{problem} Presets are: {presets}.") from problem


def _with_vectors(spec: str) -> str:
    """Return the canonical text of a model that has vectors."""
    return canonical(spec) if source_kind(spec) == SourceKind.LEARNED else str(parse_spec(spec))


def source_wishes(text: str) -> list[Wish]:
    """Return the sources in a list parted by commas or lines, each with its own depth if any.

    A preset stands for its members; a depth behind it is theirs. An empty list is empty.

    Raises:
        Refused: a word names no source that needs no file, or a source is named twice.
    """
    words = [word.strip() for line in text.splitlines() for word in line.split(",")]
    wishes: dict[str, Wish] = {}
    for word in filter(None, words):
        name, k = split_depth(word)
        for spec in expanded([name]):
            try:
                wish = Wish(canonical(spec), k)
                check_installed(wish.spec)
            except SpecError as problem:
                presets = ", ".join(preset.name for preset in PRESETS)
                others = "Or learned:SPACE#NOTION, random:SEED, plugin:DOTTED.PATH, or a preset"
                raise Refused("models", f"{problem} {others}: {presets}.") from problem
            if source_kind(wish.spec) in UPLOADED:
                raise Refused("models", f"{wish.spec} is a file; upload it instead.")
            if wishes.setdefault(wish.spec, wish) != wish:
                raise Refused("models", f"{wish.spec} is named with two depths.")
    return list(wishes.values())


def depths_of(wishes: Iterable[Wish]) -> dict[str, int]:
    """Return the own depths of sources, by spec."""
    return {wish.spec: wish.k for wish in wishes if wish.k is not None}


def query_rule(
    queries: str, filters: Iterable[str], *, strata: str = "", one_per_product: bool = False
) -> QueryRule:
    """Return the rule that a number, `all`, or the path of a list stands for.

    Raises:
        Refused: the list cannot be read or is empty, or a filter is not `name=value`.
    """
    try:
        kept = parse_filters(filters)
    except QueryRuleError as problem:
        raise Refused("filter", str(problem)) from problem
    try:
        how: dict[str, Any] = {
            "filters": kept,
            "strata": strata,
            "one_per_product": one_per_product,
        }
        if queries == "all":
            return QueryRule(**how)
        if queries.removeprefix("-").isdecimal() and len(queries) < 20:
            return QueryRule(n=int(queries), **how)
        return QueryRule(names=_names_in(Path(queries)), **how)
    except QueryRuleError as problem:
        raise Refused("queries", str(problem)) from problem


def candidate_rule(same: str, different: str, one_of_alike: bool) -> CandidateRule:
    """Return the rule that two lists of attributes and a flag stand for.

    Raises:
        Refused: it contradicts itself.
    """
    try:
        return CandidateRule(attributes_in(same), attributes_in(different), one_of_alike)
    except CandidateRuleError as problem:
        raise Refused("candidates", f"{problem}.") from problem


def _names_in(path: Path) -> tuple[str, ...]:
    try:
        names = parse_names(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise QueryRuleError(f"{path} is not UTF-8 text: {problem.reason}") from problem
    except OSError as problem:
        raise QueryRuleError(
            f"{path} is neither a number nor a file that can be read: {problem.strerror}"
        ) from problem
    if not names:
        raise QueryRuleError(f"{path} names no image")
    return names
