"""The form that opens a pool to a panel in rounds."""

from __future__ import annotations

from typing import Any, cast

from django import forms

from evaluation.rounds.services import MOST_LOOKS, RoundRules
from lookalike.planning.measures import BOARD, needed_depth
from pooling.campaign.forms import CampaignForm
from pooling.models import Pool
from pooling.pools.costs import NUMBER

OF_ROUNDS = (
    "share", "n_looks", "measure", "orders", "width", "recall", "alike", "floor", "opens_itself",
)  # fmt: skip


def _percent(label: str, help_text: str, **kwargs: Any) -> forms.FloatField:
    return forms.FloatField(
        min_value=0, max_value=100, label=label, help_text=help_text, widget=NUMBER, **kwargs
    )


class RoundsForm(CampaignForm):
    """Who shall judge a pool, by which rules, and what each round draws."""

    share = _percent(
        "% of the pool in each round", "At 20 five rounds judge all of it.", initial=20
    )
    n_looks = forms.IntegerField(
        min_value=1,
        max_value=MOST_LOOKS,
        initial=5,
        label="Rounds planned",
        help_text="After each you may look and stop. The chance that any claim is wrong is at "
        "most 5 %, shared out over so many looks; more rounds can follow, but claim nothing.",
    )
    measure = forms.ChoiceField(label="Measure to stop by")
    orders = forms.BooleanField(required=False, label="Goal: the order of the models")
    width = forms.FloatField(
        required=False,
        min_value=0.001,
        max_value=0.5,
        label="Goal: no value off by more than ±",
        help_text="Such as 0.05. Empty: does not matter.",
        widget=NUMBER,
    )
    recall = _percent(
        "Goal: % of the pool’s similar pairs found, at least",
        "Such as 80. Empty: does not matter.",
        required=False,
    )
    alike = forms.FloatField(
        required=False,
        min_value=0,
        max_value=0.5,
        label="A difference that does not matter",
        help_text="Models that are surely no further apart count as ordered. Empty: every "
        "difference matters.",
        widget=NUMBER,
    )
    floor = _percent(
        "Least chance of a pair, %",
        "Every pair can be drawn, or nothing could be said of it. Empty: three quarters of the "
        "share drawn, at least 5.",
        required=False,
    )
    opens_itself = forms.BooleanField(
        required=False,
        label="Open the next round by itself when one is done",
        help_text="Until the goals are met, or the rounds planned are judged.",
    )

    def __init__(self, *args: Any, pool: Pool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["asking_order"]  # what is likely is drawn more often as it is
        self.fields["seed"].help_text = "Of the draws, and of the judges’ shuffled orders."
        depths = pool.sources.filter(done_at__isnull=False).values_list("k", flat=True)
        depth = min(depths, default=pool.k)
        names = [f"P@{depth}", *BOARD] if depth < 5 else list(BOARD)
        known = [(name, name) for name in names if needed_depth(name) <= depth]
        cast("forms.ChoiceField", self.fields["measure"]).choices = known

    @property
    def round_fields(self) -> list[forms.BoundField]:
        """The fields of rounds, to be drawn together."""
        return [self[name] for name in OF_ROUNDS]

    @property
    def round_rules(self) -> RoundRules:
        """How the pool is to be judged in rounds."""
        given = self.cleaned_data

        def part(name: str) -> float | None:
            return None if given[name] is None else given[name] / 100

        return RoundRules(
            share=given["share"] / 100,
            n_looks=given["n_looks"],
            measure=given["measure"],
            orders=given["orders"],
            width=given["width"],
            recall=part("recall"),
            alike=given["alike"] or 0.0,
            floor=part("floor"),
            opens_itself=given["opens_itself"],
            seed=given["seed"],
        )

    @property
    def others(self) -> dict[str, Any]:
        """All that was given besides."""
        return {name: value for name, value in super().others.items() if name not in OF_ROUNDS}
