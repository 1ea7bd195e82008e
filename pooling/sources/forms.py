"""The part of a form that says who proposes: models by name, and uploaded files."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict

from lookalike.backbones.spec import SpecError
from lookalike.core.errors import Refused
from lookalike.pooling.source_spec import SourceKind, Wish, uploaded_spec
from pooling.new_pool.parsing import source_wishes
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_files import Arriving, Upload
from pooling.sources.upload_services import keep_embeddings, keep_ranking


class SourcesForm(forms.Form):
    """Models, one in each line; one file of vectors and one ranking, each with a name."""

    models = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "mono"}),
        label="Other models",
        help_text="One in each line: timm:MODEL, open_clip:ARCH/PRETRAINED, file:PATH, "
        "descriptor:NAME, learned:SPACE#NOTION, plugin:DOTTED.PATH, random:SEED, or the name of "
        "a preset. A depth of its own goes behind it: random:1 k=20.",
    )
    embeddings_name = forms.CharField(
        required=False,
        max_length=80,
        label="Name of the embeddings",
        help_text="What to call the model: letters, digits, dots, dashes.",
    )
    embeddings_file = forms.FileField(
        required=False,
        label="Vectors",
        help_text=".npz with ids and vectors, parquet with id and vector, or .npy. One vector "
        "for every picture that may be proposed and for every query.",
    )
    embeddings_ids = forms.FileField(
        required=False,
        label="Ids of a .npy",
        help_text="A text file: one path, uid or SHA-256 a line, in the order of the rows.",
    )
    ranking_name = forms.CharField(
        required=False, max_length=80, label="Name of the ranking", help_text="As above."
    )
    ranking_file = forms.FileField(
        required=False,
        label="Ranking",
        help_text="A TREC run, or CSV or parquet with query, candidate and score.",
    )

    @property
    def ticked(self) -> list[str]:
        """The models that are ticked in the list, which is drawn beside the fields."""
        return self.data.getlist("ticked") if isinstance(self.data, QueryDict) else []

    def clean_models(self) -> list[Wish]:
        """Return the sources that need no file: those ticked, and those named, presets spelled out.

        A model that is ticked and named has the depth that stands behind its name.
        """
        try:
            named = source_wishes(self.cleaned_data["models"])
            specs = {wish.spec for wish in named}
            ticked = source_wishes("\n".join(self.ticked))
            return [*(wish for wish in ticked if wish.spec not in specs), *named]
        except Refused as problem:
            raise forms.ValidationError(problem.message) from problem

    def upload_specs(self, cleaned: dict[str, Any]) -> list[str]:
        """Return the specs of the files that are given; wrong names become errors of the form."""
        specs = []
        for kind in (SourceKind.EMBEDDINGS, SourceKind.RANKING):
            name, file = cleaned.get(f"{kind}_name", ""), cleaned.get(f"{kind}_file")
            if not name and file is None:
                continue
            if file is None:
                self.add_error(f"{kind}_file", f"Choose the file of {name}.")
            elif not name:
                self.add_error(f"{kind}_name", "Say what to call it.")
            else:
                try:
                    specs.append(uploaded_spec(kind, name))
                except SpecError as problem:
                    self.add_error(f"{kind}_name", str(problem))
        if cleaned.get("embeddings_ids") and cleaned.get("embeddings_file") is None:
            self.add_error("embeddings_file", "Ids need the .npy that they belong to.")
        return specs

    def take_uploads(self, task: RankingTask) -> list[Upload]:
        """Check and keep the files that are given; what is wrong stands beside its field.

        Returns:
            What was kept; ask `is_valid()` afterwards.
        """
        given, kept = self.cleaned_data, []
        if given.get("embeddings_file") is not None:
            try:
                kept.append(
                    keep_embeddings(
                        name=given["embeddings_name"],
                        file=_arriving(given["embeddings_file"]),
                        ids=given["embeddings_ids"] and _arriving(given["embeddings_ids"]),
                        task=task,
                    )
                )
            except Refused as problem:
                self.add_error("embeddings_file", problem.message)
        if given.get("ranking_file") is not None:
            file = _arriving(given["ranking_file"])
            try:
                kept.append(keep_ranking(name=given["ranking_name"], file=file, task=task))
            except Refused as problem:
                self.add_error("ranking_file", problem.message)
        return kept


def _arriving(file: UploadedFile[bytes]) -> Arriving:
    return Arriving(str(file.name), file.chunks())
