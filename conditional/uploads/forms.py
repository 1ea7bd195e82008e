"""The form that takes files of templates and triplets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from catalog.fields import CatalogField
from conditional.models import TASK_LABELS
from conditional.uploads.files import Kind
from conditional.uploads.services import MAX_BYTES
from lookalike.conditional.column_spec import parse_where
from lookalike.conditional.formats.genecis import TASKS, read_task
from lookalike.io.errors import InputError

MAX_FILES = 20
KIND_LABELS = {
    Kind.GENECIS: "Templates: GeneCIS JSON",
    Kind.CIRR: "Templates: CIRR JSON",
    Kind.TRIPLETS: "Triplets: CSV",
    Kind.INTEGERS: "Triplets: integers, as UT-Zappos and Celeb-A have them",
}
_FIELDS = {  # what a kind takes beside its files
    Kind.GENECIS: {"task"},
    Kind.CIRR: {"split"},
    Kind.TRIPLETS: {"scale", "where"},
    Kind.INTEGERS: {"names", "scale"},
}


class _FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One upload or several."""

    widget = _FilesInput

    def clean(self, data: Any, initial: Any = None) -> Any:
        """Return the uploads as a list, each checked as a single one is."""
        uploads = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(upload, initial) for upload in uploads or [None]]


class ImportForm(forms.Form):
    """A set of templates or of triplets that others made."""

    kind = forms.ChoiceField(
        choices=[(kind.value, label) for kind, label in KIND_LABELS.items()],
        initial=Kind.GENECIS.value,
        widget=forms.RadioSelect,
        label="What it is",
    )
    name = forms.CharField(max_length=80, help_text="Of the new set.")
    catalog = CatalogField(
        help_text="Holds the images. A file names them by uid, SHA-256, path, file name, or the "
        "number that a file name is.",
    )
    file = FilesField(
        help_text=f"At most {MAX_BYTES // 2**20} MB. Integers may come as several files."
    )
    task = forms.ChoiceField(
        required=False,
        choices=[("", "What the file’s name says"), *((t.value, TASK_LABELS[t]) for t in TASKS)],
        help_text="A file of GeneCIS holds one task and is called after it.",
    )
    crops = forms.ChoiceField(
        required=False,
        choices=[
            ("paper", "As GeneCIS does it: above and to the left"),
            ("symmetric", "As much on every side"),
        ],
        label="Context of boxes",
        help_text="What is shown around the part of an image that a template names.",
    )
    names = forms.FileField(
        required=False,
        label="Names",
        help_text="What the integers are positions of: a JSON list, or one name a line. Without "
        "it they are the names.",
    )
    where = forms.CharField(
        required=False,
        label="Only rows with",
        help_text="One COLUMN=VALUE in each line.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "mono"}),
    )
    scale = forms.FileField(
        required=False,
        label="Known order",
        help_text="CSV with the columns image and value: answers are compared with it.",
    )
    split = forms.FileField(
        required=False,
        label="Images of the split",
        help_text="A JSON object of names and paths (split.rc2.val.json). Entries without an "
        "image set look among all of them; without it they cannot go in.",
    )
    keep_good = forms.BooleanField(
        required=False,
        label="Keep the good entries",
        help_text="Without it, one entry that cannot go in stops the import. Either way all of "
        "them are listed.",
    )

    def clean_where(self) -> dict[str, str]:
        """Return the wanted values by column."""
        try:
            return parse_where(self.cleaned_data["where"].splitlines())
        except ValueError as problem:
            raise forms.ValidationError(f"{problem}.") from problem

    def clean(self) -> dict[str, Any]:
        """Check what the fields say together; what does not belong to the kind is passed over."""
        cleaned = super().clean() or {}
        files: list[UploadedFile[bytes]] = cleaned.get("file") or []
        if "kind" not in cleaned or not files:
            return cleaned
        kind = Kind(cleaned["kind"])
        most = MAX_FILES if kind == Kind.INTEGERS else 1
        if len(files) > most:
            self.add_error("file", f"Choose {'one file' if most == 1 else f'at most {most}'}.")
        elif kind == Kind.GENECIS and not cleaned.get("task"):
            try:
                cleaned["task"] = read_task(Path(str(files[0].name))).value
            except InputError:
                self.add_error(
                    "task", f"The name “{files[0].name}” does not say which task it is: choose one."
                )
        ignored = {"task", "names", "scale", "split", "where"} - _FIELDS[kind]
        cleaned |= {name: {"task": "", "where": {}}.get(name) for name in ignored}
        return cleaned | {"kind": kind, "crops": cleaned.get("crops") or "paper"}
