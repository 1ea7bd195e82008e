"""What an admin fills in to have pairs below a pool judged."""

from __future__ import annotations

from django import forms

from evaluation.below_pool.services import LEAST, MOST
from evaluation.models import SampleAim

LARGEST_SEED = 2**31 - 1


class SampleForm(forms.Form):
    """How many pairs, what for, and the seed."""

    n_pairs = forms.IntegerField(
        min_value=LEAST,
        max_value=MOST,
        label="Pairs",
        help_text="Every judge gets them among the others. 5 to 10 % of the pool is usual.",
    )
    aim = forms.ChoiceField(
        label="What for",
        choices=SampleAim.choices,
        initial=SampleAim.BOTH,
        help_text="For the number of similar pairs, labels go where most of the catalog is, far "
        "down; to check the top of the lists they go to the ranks just below the pool.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=LARGEST_SEED, initial=0, label="Seed", help_text="Of the draw."
    )
