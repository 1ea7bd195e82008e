"""The page of a set of triplets: what people answered, and what embeddings score."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import reader_required
from catalog.models import Image
from conditional.models import Triplet, TripletSet

TRIPLETS_A_PAGE = 10


@dataclass(frozen=True)
class ShownTriplet:
    """An answer with its pictures."""

    triplet: Triplet

    @property
    def pictures(self) -> list[tuple[str, Image]]:
        """Each picture with its role."""
        one = self.triplet
        return [("Anchor", one.anchor), ("Closer", one.closer), ("Farther", one.farther)]


@require_safe
@reader_required
def triplets(request: HttpRequest, slug: str) -> HttpResponse:
    """Show figures about people and embeddings, and the answers with their pictures."""
    found = get_object_or_404(TripletSet.objects.select_related("catalog"), slug=slug)
    rows = found.triplets.select_related("anchor", "closer", "farther").order_by("position")
    page = Paginator(rows, TRIPLETS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "set": found,
        "scores": found.scores.select_related("embedding_set"),
        "page": page,
        "shown": [ShownTriplet(one) for one in page.object_list],
    }
    return render(request, "conditional/triplets.html", context)
