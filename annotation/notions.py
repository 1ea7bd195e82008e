"""What similar means in a campaign, where it is not “all in all”."""

from __future__ import annotations

from typing import Any, NamedTuple

from annotation.errors import CampaignError
from catalog.models import Projection
from lookalike.core.errors import Refused

LONGEST = 80


class AskedNotion(NamedTuple):
    """The notion that judges are asked about; no name: similar as a whole.

    A copy, so that it stays as it was asked when the learned model goes.

    Attributes:
        name: as judges read it, “Similar in NAME?”.
        model: spec of the learned model that was fitted to its prompts; no judge sees it.
        prompts: of that model.
    """

    name: str = ""
    model: str = ""
    prompts: tuple[str, ...] = ()

    @classmethod
    def stored(cls, name: str, model: str, prompts: str) -> AskedNotion:
        """Return a notion as campaigns store it: each prompt is a line."""
        return cls(name, model, tuple(prompts.splitlines()))

    def as_json(self) -> dict[str, Any]:
        """Return what a release says of it."""
        return {"name": self.name, "model": self.model, "prompts": list(self.prompts)}


def asked_notion(name: str, model: str = "") -> AskedNotion:
    """Return a notion by its name, or by its learned model, whose name it takes without one.

    Raises:
        Refused: there is no such learned model, or it is none of a notion.
        CampaignError: a name of several lines, or too long.
    """
    name = " ".join(name.split())
    if len(name) > LONGEST:
        raise CampaignError(f"notion: {len(name)} characters; at most {LONGEST} fit the question.")
    if not model:
        return AskedNotion(name)
    slug, _, head = model.removeprefix("learned:").partition("#")
    learned = Projection.objects.filter(slug=slug, head=head).exclude(head="").first()
    if learned is None:
        known = ", ".join(one.spec for one in learned_notions()[:10]) or "none yet"
        raise Refused("notion_model", f"no notion is called {model!r}; there is {known}.")
    prompts = tuple(learned.card.get("prompts", ()))
    return AskedNotion(name or learned.name.lower()[:LONGEST], learned.spec, prompts)


def learned_notions() -> Any:
    """Return the learned models that are notions, by spec."""
    return Projection.objects.exclude(head="").order_by("slug", "head")
