"""The models that the form of a pool lists to tick, in groups.

Each function of GROUPS yields groups for a catalog; one more kind of model is one more function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.conf import settings

from catalog.models import Catalog, EmbeddingSet, Projection
from lookalike.backbones.at_hand import is_at_hand
from lookalike.backbones.errors import SpecError
from lookalike.backbones.spec import parse_spec
from lookalike.pooling.presets import PRESETS
from lookalike.pooling.source_spec import SourceKind, source_kind


@dataclass(frozen=True)
class Offer:
    """A model to tick.

    Attributes:
        spec: what the form sends; "" where the model cannot be had by a name.
        name: what people call it.
        note: what to know of it.
        megabytes: of its weights; 0 where that is not known or there are none.
        licence: of its weights; "" where that is not known or there are none.
        is_embedded: the catalog has its vectors, so that it proposes in seconds.
        is_here: its weights need not be fetched; None where nobody can tell yet.
    """

    spec: str
    name: str
    note: str = ""
    megabytes: int = 0
    licence: str = ""
    is_embedded: bool = False
    is_here: bool | None = True


@dataclass(frozen=True)
class OfferGroup:
    """Models under one heading."""

    title: str
    text: str
    offers: list[Offer]

    @property
    def specs(self) -> str:
        """The specs of all that can be ticked, as a button takes them."""
        return "|".join(offer.spec for offer in self.offers if offer.spec)


def model_offers(catalog: Catalog | None, without: Iterable[str] = ()) -> list[OfferGroup]:
    """Return the models that can be ticked for a catalog, each of them once.

    Args:
        catalog: None before one is chosen.
        without: specs that are not to be offered.
    """
    groups, seen = [], set(without)
    for make in GROUPS:
        for group in make(catalog):
            offers = [offer for offer in group.offers if not offer.spec or offer.spec not in seen]
            seen.update(offer.spec for offer in offers)
            if offers:
                groups.append(OfferGroup(group.title, group.text, offers))
    return groups


def _presets(catalog: Catalog | None) -> Iterator[OfferGroup]:
    embedded = _embedded(catalog)
    for preset in PRESETS:
        yield OfferGroup(
            preset.title,
            preset.text,
            [
                Offer(
                    member.spec,
                    member.name,
                    member.note,
                    member.megabytes,
                    member.licence,
                    member.spec in embedded,
                    _is_here(member.spec) if member.spec else False,
                )
                for member in preset.members
            ],
        )


def _used_before(catalog: Catalog | None) -> Iterator[OfferGroup]:
    """Yield the other models that some catalog has vectors of."""
    embedded = _embedded(catalog)
    sets = EmbeddingSet.objects.filter(is_complete=True).order_by("spec")
    specs = dict.fromkeys(sets.values_list("spec", flat=True))
    offers = [
        Offer(spec, spec, is_embedded=spec in embedded, is_here=_is_here(spec))
        for spec in specs
        if source_kind(spec) == SourceKind.BACKBONE
    ]
    yield OfferGroup("Used before", "Models that some catalog here has vectors of.", offers)


def _learned(catalog: Catalog | None) -> Iterator[OfferGroup]:
    embedded = _embedded(catalog)
    offers = [
        Offer(one.spec, one.name, f"maps {one.parent_spec}", is_embedded=one.spec in embedded)
        for one in Projection.objects.all()
    ]
    text = "They map a model's vectors, so no picture is embedded for them again."
    yield OfferGroup("Learned here", text, offers)


def _without_weights(catalog: Catalog | None) -> Iterator[OfferGroup]:
    plugins = [Offer(f"plugin:{dotted}", dotted) for dotted in settings.POOL_PLUGINS]
    chance = Offer("random:1", "Chance", "Draws candidates blindly: what no model would propose.")
    yield OfferGroup("Chance and plug-ins", "What proposes without weights.", [chance, *plugins])


GROUPS: tuple[Callable[[Catalog | None], Iterator[OfferGroup]], ...] = (
    _presets,
    _used_before,
    _learned,
    _without_weights,
)


def _embedded(catalog: Catalog | None) -> set[str]:
    if catalog is None:
        return set()
    sets = EmbeddingSet.objects.filter(catalog=catalog, is_complete=True)
    return set(sets.values_list("spec", flat=True))


def _is_here(spec: str) -> bool | None:
    try:
        return is_at_hand(parse_spec(spec))
    except SpecError:  # an older version knew it
        return False
