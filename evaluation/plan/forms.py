"""The form that asks for a plan."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, TypeVar

from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Campaign
from evaluation.models import Result
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.planning.designs import Costs, Design, Goals
from lookalike.planning.measures import BOARD, needed_depth
from lookalike.planning.simulator import CLOSE, DISTANT, World
from pooling.models import PoolCampaign
from pooling.pools.costs import NUMBER, CostForm

MOST_DESIGNS = 200
MOST_TRIED = 40  # those that differ in queries alone cost no more time
MOST_DEPTH, MOST_QUERIES, MOST_JUDGES = 50, 100_000, 50
T = TypeVar("T", int, float)


def campaigns_to_plan_from() -> QuerySet[Campaign]:
    """Return the campaigns over a pool that were evaluated, the newest first."""
    link = PoolCampaign.objects.filter(campaign=OuterRef("pk"))
    evaluated = Result.objects.filter(campaign=OuterRef("pk"))
    return Campaign.objects.filter(Exists(link), Exists(evaluated)).order_by("-pk")


def _listed(kind: Callable[[str], T], least: T, most: T) -> Callable[[str], list[T]]:
    """Return what reads numbers with commas between."""

    def read(text: str) -> list[T]:
        try:
            found = [kind(part) for part in text.replace(";", ",").split(",") if part.strip()]
        except ValueError:
            raise forms.ValidationError("Write numbers with commas between.") from None
        if any(not least <= number <= most for number in found):
            raise forms.ValidationError(f"Each number must be from {least:,} to {most:,}.")
        return sorted(set(found))

    return read


class PlanForm(forms.Form):
    """What designs are tried out, on what, and the goals."""

    pilot = forms.ModelChoiceField(
        queryset=Campaign.objects.none(),
        required=False,
        empty_label="none: the assumptions below",
        label="Pilot",
        help_text="A judged campaign like the one to come: its models, pictures and judges.",
    )
    queries = forms.CharField(initial="50, 100, 200, 400", max_length=200, label="Queries")
    depths = forms.CharField(initial="5", max_length=200, label="k, candidates of each model")
    judges = forms.CharField(initial="1, 3, 5", max_length=200, label="Judges of each pair")
    shares = forms.CharField(
        initial="100",
        max_length=200,
        label="% of the pairs that are judged",
        help_text="Less than 100: in rounds, which draw the pairs that tell most.",
    )
    measure = forms.ChoiceField(choices=[(name, name) for name in BOARD], initial="P@5")
    width = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=0.5,
        label="No value off by more than ±",
        help_text="Such as 0.05. Empty: does not matter.",
        widget=NUMBER,
    )
    order = forms.FloatField(
        required=False,
        min_value=1,
        max_value=99.9,
        label="Models in the right order, % sure",
        help_text="Such as 90. Empty: does not matter.",
        widget=NUMBER,
    )
    seconds, hourly = (CostForm.base_fields[name] for name in ("seconds", "hourly"))
    closeness = forms.ChoiceField(
        choices=[("distant", "one is clearly better than another"), ("close", "all alike")],
        label="The models are",
    )
    n_models = forms.IntegerField(min_value=2, max_value=30, initial=8, label="Models")
    positives = forms.FloatField(
        min_value=0.1, max_value=90, initial=10, label="% of a query’s pictures that are similar"
    )
    misses = forms.FloatField(
        min_value=0, max_value=49, initial=8, label="% of similar pairs that a judge misses"
    )
    false_alarms = forms.FloatField(
        min_value=0, max_value=49, initial=4, label="% of different pairs called similar"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pilot"].queryset = campaigns_to_plan_from()  # type: ignore[attr-defined]

    def clean_queries(self) -> list[int]:
        """Read the numbers."""
        return _listed(int, 10, MOST_QUERIES)(self.cleaned_data["queries"])

    def clean_depths(self) -> list[int]:
        """Read the numbers."""
        return _listed(int, 1, MOST_DEPTH)(self.cleaned_data["depths"])

    def clean_judges(self) -> list[int]:
        """Read the numbers."""
        return _listed(int, 1, MOST_JUDGES)(self.cleaned_data["judges"])

    def clean_shares(self) -> list[float]:
        """Read the numbers."""
        return [share / 100 for share in _listed(float, 1.0, 100.0)(self.cleaned_data["shares"])]

    def clean(self) -> dict[str, Any]:
        """Make the designs, the costs, the goals and the world."""
        cleaned = dict(super().clean() or {})
        if self.errors:
            return cleaned
        several = [cleaned[name] for name in ("queries", "depths", "judges", "shares")]
        designs = [Design(*one) for one in product(*several)]
        n_tried = len(designs) // len(cleaned["queries"])
        if len(designs) > MOST_DESIGNS or n_tried > MOST_TRIED:
            self.add_error(
                None,
                f"These are {len(designs)} designs; at most {MOST_DESIGNS} are tried, and "
                f"{MOST_TRIED} beside the number of queries.",
            )
            return cleaned
        try:
            if max(cleaned["depths"]) < needed_depth(cleaned["measure"]):
                raise Refused("depths", f"{cleaned['measure']} needs a deeper pool.")
            cleaned["designs"] = designs
            cleaned["costs"] = Costs(cleaned["seconds"], cleaned["hourly"] or 0.0)
            order = cleaned["order"]
            cleaned["wish"] = Goals(cleaned["width"], None if order is None else order / 100)
            best, worst = CLOSE if cleaned["closeness"] == "close" else DISTANT
            cleaned["world"] = World(
                n_models=cleaned["n_models"],
                best=best,
                worst=worst,
                **{key: cleaned[key] / 100 for key in ("positives", "misses", "false_alarms")},
            )
        except (Refused, InputError) as problem:
            field = problem.field if isinstance(problem, Refused) else "measure"
            self.add_error(field if field in self.fields else None, str(problem))
        return cleaned
