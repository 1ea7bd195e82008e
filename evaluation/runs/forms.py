"""What somebody fills in to upload a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotation.models import Campaign
from evaluation.runs.services import name_problem
from evaluation.runs.upload_files import ENDINGS


class RunForm(forms.Form):
    """A run: a name, a file, and what a missing score means."""

    name = forms.CharField(
        max_length=200, label="Name", help_text="As it shall stand on the leaderboard."
    )
    file = forms.FileField(
        label="Scores or embeddings",
        help_text="A TREC run; CSV or parquet with the columns query, candidate, score; or "
        "embeddings as .npy, .npz or parquet. At most 2 GB.",
        widget=forms.ClearableFileInput(attrs={"accept": ",".join(ENDINGS)}),
    )
    ids_file = forms.FileField(
        label="Ids of a .npy",
        required=False,
        help_text="Only for a .npy: a text file with one image a line, in the order of its rows.",
        widget=forms.ClearableFileInput(attrs={"accept": ".txt"}),
    )
    family = forms.CharField(
        max_length=200,
        required=False,
        label="Family",
        help_text="Backbone or training data that it shares with other models. A relative of a "
        "pooled model is a sibling, not an outsider.",
    )
    missing = forms.ChoiceField(
        label="Pairs without a score",
        choices=[
            ("error", "are an error: refuse the run"),
            ("worst", "count as the worst, all tied below the others"),
        ],
    )
    lower_is_better = forms.BooleanField(
        required=False,
        label="Scores are distances: lower is better",
        help_text="Only for files of scores; embeddings are ranked by cosine.",
    )
    description = forms.CharField(
        max_length=2000,
        required=False,
        label="Description",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="How it was made, where the code is.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign

    def clean_name(self) -> str:
        """Refuse a name that is taken."""
        name: str = self.cleaned_data["name"]
        problem = name_problem(self.campaign, name)
        if problem:
            raise forms.ValidationError(problem)
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse a .npy without ids at once: the file alone cannot be used."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        file: UploadedFile[bytes] | None = cleaned.get("file")
        is_npy = file is not None and Path(str(file.name)).suffix.lower() == ".npy"
        if is_npy and not cleaned.get("ids_file"):
            self.add_error(
                "ids_file", "A .npy holds no ids: add a text file with one image a line."
            )
        if file is not None and not is_npy and cleaned.get("ids_file"):
            self.add_error("ids_file", "Only a .npy needs a file of ids.")
        return cleaned
