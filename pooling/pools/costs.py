"""What judging costs: hours of experts, and money where an hour has a price."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms

from lookalike.pooling.stats import expert_hours

SECONDS_PER_PAIR = 15
NUMBER = forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"})


class CostForm(forms.Form):
    """How long an expert takes."""

    seconds = forms.FloatField(
        min_value=0.1,
        max_value=3600,
        initial=SECONDS_PER_PAIR,
        label="Seconds for each pair",
        widget=NUMBER,
    )
    n_judges = forms.IntegerField(
        min_value=1, max_value=1000, initial=3, label="Judges of each pair"
    )
    hourly = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label="Cost of an expert hour",
        help_text="In any currency; empty leaves costs out.",
        widget=NUMBER,
    )


@dataclass(frozen=True)
class Cost:
    """Judging so many pairs, every judge every pair."""

    n_pairs: int
    seconds: float
    n_judges: int
    hourly: float | None = None

    @property
    def hours(self) -> float:
        """Hours of one judge."""
        return expert_hours(self.n_pairs, self.seconds)

    @property
    def hours_of_all(self) -> float:
        """Hours of all judges together."""
        return self.hours * self.n_judges

    @property
    def money(self) -> float | None:
        """What all judges cost together, None where an hour's price is not given."""
        return None if self.hourly is None else self.hours_of_all * self.hourly


def costs_in(form: CostForm) -> tuple[float, int, float | None]:
    """Return seconds for each pair, judges, and the price of an hour if one is given."""
    fields = form.cleaned_data if form.is_bound and form.is_valid() else {}
    seconds = fields.get("seconds") or CostForm.base_fields["seconds"].initial
    n_judges = fields.get("n_judges") or CostForm.base_fields["n_judges"].initial
    return seconds, n_judges, fields.get("hourly")
