"""What a pool shall be, and whether that can be.

No torch here: pages call this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.utils.text import slugify

from catalog.curation.services import omitted_ids
from catalog.image_names import names_of_images
from catalog.models import Catalog
from catalog.short_names import NameCheck, check_name
from catalog.vectors.projections import find_projection
from lookalike.backbones import known_names
from lookalike.backbones.errors import SpecError, UnknownModelError
from lookalike.backbones.spec import parse_spec
from lookalike.core.errors import Refused
from lookalike.pooling.candidate_rule import CandidateRule
from lookalike.pooling.query_rule import QueryRule, draw, draw_evenly, one_of_each
from lookalike.pooling.source_spec import SourceKind, canonical, source_kind
from pooling.models import Pool
from pooling.pools.queries import images_matching
from pooling.sources.plugins import is_allowed, refusal
from pooling.sources.upload_files import Upload

RESERVED_SLUGS = {"new"}
MAX_NAMED = 5  # of several bad names, a message shows these


@dataclass(frozen=True)
class PoolRequest:
    """What a pool shall be; everything that fixes its proposals.

    Attributes:
        specs: its sources that need no file.
        shared_product_ids: a product id means the same product in both catalogs.
        k: the depth of sources without one of their own.
        candidates: which further images are no candidates.
        index: how the nearest vectors are found.
        depths: the own depths of sources, by spec.
        uploads: its sources that are files.
    """

    name: str
    catalog: Catalog
    specs: Sequence[str]
    k: int
    rule: QueryRule
    query_catalog: Catalog | None = None
    seed: int = 0
    exclude_same_product: bool = True
    shared_product_ids: bool = False
    candidates: CandidateRule = field(default_factory=CandidateRule)
    index: str = "exact"
    depths: Mapping[str, int] = field(default_factory=dict)
    uploads: Sequence[Upload] = ()

    @property
    def slug(self) -> str:
        return slugify(self.name)[:80]

    @property
    def asking(self) -> Catalog:
        """The catalog that the queries come from."""
        return self.query_catalog or self.catalog

    @property
    def all_specs(self) -> list[str]:
        """The specs of all sources, in their order."""
        return [*self.specs, *(upload.spec for upload in self.uploads)]

    def depth_of(self, spec: str) -> int:
        """Return the depth of a source."""
        return self.depths.get(spec, self.k)


def pool_name(name: str) -> NameCheck:
    """Return whether a new pool may have a name, and else one like it that is free."""
    return check_name(name, Pool.objects.all(), what="pool", reserved=RESERVED_SLUGS)


def check_request(request: PoolRequest) -> None:
    """Raise Refused naming the first field that cannot be right."""
    if not request.slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    if request.slug in RESERVED_SLUGS:
        raise Refused("name", "that word is part of an address here; choose another.")
    if request.query_catalog == request.catalog:
        raise Refused("query catalog", "leave it empty to ask from the same catalog.")
    if request.shared_product_ids and request.query_catalog is None:
        raise Refused(
            "shared_product_ids",
            "only where queries come from another catalog: choose it, or leave this off.",
        )
    n_images = request.catalog.images.count()
    n_others = n_images if request.query_catalog else n_images - 1
    if not 1 <= request.k <= n_others:
        raise Refused("k", f"{request.k} is not possible: {n_images} images {_allow(n_others)}.")
    check_specs(request.all_specs)
    for spec, k in request.depths.items():
        check_depth("models", k, n_others, spec)


def _allow(most: int) -> str:
    return f"allow 1 to {most}" if most > 0 else "are too few"


def check_specs(specs: Sequence[str]) -> None:
    """Raise Refused if there is no source, one is named twice, or one cannot be."""
    if not specs:
        raise Refused("models", "name at least one model.")
    for position, spec in enumerate(specs):
        if spec in specs[:position]:
            raise Refused("models", f"{spec} is named twice.")
        try:
            check_installed(canonical(spec))
        except SpecError as problem:
            raise Refused("models", str(problem)) from problem
        if source_kind(spec) == SourceKind.LEARNED:
            find_projection(spec)
        dotted = spec.partition(":")[2]
        if source_kind(spec) == SourceKind.PLUGIN and not is_allowed(dotted):
            raise Refused("models", refusal(dotted))


def check_installed(spec: str) -> None:
    """Raise SpecError if no installed library has the model that a spec names."""
    if source_kind(spec) == SourceKind.BACKBONE:
        try:
            known_names.check_name(parse_spec(spec))
        except UnknownModelError as problem:
            raise SpecError(str(problem)) from problem


def check_depth(field_name: str, k: int, n_candidates: int, spec: str = "") -> None:
    """Raise Refused if a depth cannot be had from so many candidates."""
    if not 1 <= k <= n_candidates:
        whose = f"of {spec} " if spec else ""
        allow = f"allow 1 to {n_candidates:,}" if n_candidates > 0 else "are too few"
        raise Refused(field_name, f"{k} {whose}is not possible: the catalog’s images {allow}.")


def choose_queries(request: PoolRequest) -> list[int]:
    """Return the image ids of the queries, in the order of asking.

    Raises:
        Refused: listed names are unknown or mean the same image, nothing matches the
            filters, or fewer match than were asked for.
    """
    rule = request.rule
    if rule.names:
        return _listed_queries(request)
    matching = images_matching(request.asking, rule.filters)
    rows = list(matching.values_list("pk", "product_id", "attributes"))
    if not rows:
        raise Refused("queries", f"no image of “{request.asking}” is left: {rule.describe()}.")
    rng = np.random.default_rng(request.seed)
    if rule.one_per_product:
        kept = one_of_each([product for _, product, _ in rows], rng)
        rows = [rows[position] for position in kept]
    n = len(rows) if rule.n is None else rule.n
    if n > len(rows):
        raise Refused("queries", f"{n} were asked for, but only {len(rows)} images can be queries.")
    if not rule.strata:
        drawn = draw(len(rows), n, rng)
    else:
        values = [str(attributes.get(rule.strata, "")) for _, _, attributes in rows]
        if not any(values):
            raise Refused("queries", f"no image has the attribute {rule.strata!r}.")
        drawn = draw_evenly(values, n, rng)
    return [rows[position][0] for position in drawn]


def check_candidates(request: PoolRequest, query_ids: Sequence[int]) -> None:
    """Raise Refused if queries could get no candidates by the rule on them."""
    rule = request.candidates
    for name in rule.attributes:
        if not request.catalog.images.filter(attributes__has_key=name).exists():
            raise Refused(
                "candidates", f"no image of “{request.catalog}” has the attribute {name!r}."
            )
    for name in rule.same:
        asked = request.asking.images.filter(pk__in=query_ids)
        n_without = asked.exclude(attributes__has_key=name).count()
        n_without += asked.filter(**{f"attributes__{name}": ""}).count()
        if n_without:
            raise Refused(
                "candidates",
                f"{n_without:,} of {len(query_ids):,} queries have no {name!r}, so nothing could "
                "be proposed for them; ask only images that have it, or leave this out.",
            )


def _listed_queries(request: PoolRequest) -> list[int]:
    rule, catalog = request.rule, request.asking
    id_of, reasons = names_of_images(catalog.images.all(), f"“{catalog}”").find_all(rule.names)
    if reasons:
        more = f"; and {len(reasons) - MAX_NAMED} more" if len(reasons) > MAX_NAMED else ""
        raise Refused("queries", f"{'; '.join(list(reasons.values())[:MAX_NAMED])}{more}.")
    omitted = omitted_ids(catalog)
    left_out = [name for name in rule.names if id_of[name] in omitted]
    if left_out:
        raise Refused("queries", f"{left_out[0]} is left out of pools; its page says why.")
    kept = set(images_matching(catalog, rule.filters).values_list("pk", flat=True))
    name_of: dict[int, str] = {}
    for name in rule.names:
        pk = id_of[name]
        if pk in name_of:
            raise Refused("queries", f"{name} and {name_of[pk]} are the same image.")
        if pk in kept:
            name_of[pk] = name
    if not name_of:
        raise Refused("queries", f"no image is left: {rule.describe()}.")
    return list(name_of)
