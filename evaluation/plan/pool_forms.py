"""The form that makes the pool of a design, with the campaign that follows it."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Role, User
from annotation.models import Campaign
from catalog.fields import CatalogField
from lookalike.core.errors import Refused
from lookalike.planning.designs import Design
from pooling.models import Pool
from pooling.new_pool.parsing import source_wishes
from pooling.new_pool.requests import pool_name


class PlannedPoolForm(forms.Form):
    """What a design leaves open: pictures, models and people; a pilot says all of it."""

    name = forms.CharField(max_length=80, help_text="Of the pool and of its campaign.")
    catalog = CatalogField(help_text="Candidates come from it.")
    models = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"}),
        label="Models",
        help_text="One in each line: timm:MODEL, open_clip:ARCH/PRETRAINED, descriptor:NAME, or "
        "the name of a preset.",
    )
    panel = forms.ModelMultipleChoiceField(
        User.objects.filter(role=Role.ANNOTATOR, is_active=True).order_by(
            "is_simulated", "username"
        ),
        widget=forms.CheckboxSelectMultiple,
        label="Judges",
    )

    def __init__(self, *args: Any, design: Design, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.design = design
        self.fields["panel"].help_text = f"At least {design.n_judges}."

    def clean_models(self) -> list[str]:
        """Read the models, presets spelled out."""
        try:
            return [wish.spec for wish in source_wishes(self.cleaned_data["models"])]
        except Refused as problem:
            raise forms.ValidationError(problem.message) from problem

    def clean_panel(self) -> list[User]:
        """Refuse fewer judges than the design has."""
        panel = list(self.cleaned_data["panel"])
        if len(panel) < self.design.n_judges:
            raise forms.ValidationError(
                f"{self.design.n_judges} judges of each pair are planned; name as many at least."
            )
        return panel


def as_the_pilot(pilot: Campaign, pool: Pool, design: Design) -> dict[str, Any]:
    """Return what the form holds where a campaign like its pilot is made."""
    name = f"{pool.name[:60]} {design.n_queries}"
    sources = pool.sources.filter(file_sha256="")
    members = pilot.panel.filter(is_active=True, annotator__is_active=True)
    return {
        "name": pool_name(name).free or name,
        "catalog": pool.catalog_id,
        "models": "\n".join(sources.values_list("spec", flat=True)),
        "panel": list(members.values_list("annotator", flat=True)),
    }
