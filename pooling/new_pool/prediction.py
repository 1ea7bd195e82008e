"""What a pool will cost, before it is filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db.models import Q

from lookalike.core.arrays import Ints
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import parse_names
from lookalike.pooling.source_spec import UPLOADED
from pooling.new_pool.forms import PoolForm
from pooling.new_pool.requests import PoolRequest
from pooling.pools.costs import Cost, CostForm, costs_in
from pooling.pools.queries import images_matching
from pooling.sources.admission import n_admissible


@dataclass(frozen=True)
class Prediction:
    """Bounds on a pool: |Q| k pairs if all models agree, |M| |Q| k if no two do.

    With depths of their own: |Q| times the greatest k, and |Q| times their sum.

    Attributes:
        brute_force: every query with every other image of the catalog, as far as the rules on
            candidates admit it.
        candidates: those rules in words; "" where there are none.
    """

    n_models: int
    n_queries: int
    k: int
    fewest: Cost
    most: Cost
    brute_force: Cost
    candidates: str = ""

    @property
    def most_share(self) -> float:
        """The largest part of brute force that the pool can take."""
        return self.most.n_pairs / self.brute_force.n_pairs if self.brute_force.n_pairs else 0.0


def prediction_of(form: PoolForm, cost_form: CostForm) -> Prediction | None:
    """Return what a half-filled form predicts, or None while it says too little.

    Fields that do not bear on the cost, such as the name, may be missing or wrong.
    """
    if not form.is_bound:
        return None
    form.is_valid()
    fields = form.cleaned_data
    catalog, k = fields.get("catalog"), fields.get("k")
    n_queries = _n_queries(form)
    n_uploads = sum(bool(fields.get(f"{kind}_name")) for kind in UPLOADED)
    wishes = fields.get("models") or []
    if catalog is None or not (wishes or n_uploads) or k is None or not n_queries:
        return None
    depths = [wish.k or k for wish in wishes] + [k] * n_uploads
    asking = fields.get("query_catalog")
    n_candidates = catalog.images.count() - (0 if asking else 1)
    if not all(1 <= depth <= n_candidates for depth in depths):
        return None
    seconds, n_judges, hourly = costs_in(cost_form)

    def cost(n_pairs: int) -> Cost:
        return Cost(n_pairs=n_pairs, seconds=seconds, n_judges=n_judges, hourly=hourly)

    rule, n_of_query = _admitted(form) or ("", np.full(n_queries, n_candidates))
    return Prediction(
        n_models=len(depths),
        n_queries=n_queries,
        k=k,
        fewest=cost(int(np.minimum(n_of_query, max(depths)).sum())),
        most=cost(int(np.minimum(n_of_query, sum(depths)).sum())),
        brute_force=cost(int(n_of_query.sum())),
        candidates=rule,
    )


def request_in(form: PoolForm) -> tuple[PoolRequest, list[int]]:
    """Return the pool that a form asks for, and its queries, whatever its name is.

    Raises:
        Refused: it says too little, or something that cannot be.
    """
    form.is_valid()
    cleaned = {"models": [], **form.cleaned_data, "name": "not named yet"}
    try:
        return form.checked_request(cleaned, form.upload_specs(cleaned))
    except KeyError as missing:
        field = str(missing.args[0])
        raise Refused(field, f"{form[field].label}: {form.errors[field][0]}") from None


def _admitted(form: PoolForm) -> tuple[str, Ints] | None:
    """Return the rule on candidates, and how many each query has; None without a valid rule."""
    try:
        request, query_ids = request_in(form)
    except Refused:  # said beside the fields once the form is sent
        return None
    if not request.candidates:
        return None
    return request.candidates.describe(), n_admissible(request, np.array(query_ids, np.int64))


def _n_queries(form: PoolForm) -> int:
    """Return how many queries the form asks for, 0 while that is not known."""
    fields = form.cleaned_data
    asking = fields.get("query_catalog") or fields.get("catalog")
    filters = fields.get("filters")
    if asking is None or filters is None:
        return 0
    if fields.get("how") == "list":
        return len(parse_names(f"{fields.get('names', '')}\n{fields.get('names_file', '')}"))
    matching = images_matching(asking, filters)
    n_matching = matching.count()
    if fields.get("one_per_product"):
        unknown = Q(product_id="")
        of_products = matching.exclude(unknown).order_by().values("product_id").distinct()
        n_matching = matching.filter(unknown).count() + of_products.count()
    wanted = fields.get("n_queries") if fields.get("how") == "sample" else n_matching
    return min(wanted or 0, n_matching)
