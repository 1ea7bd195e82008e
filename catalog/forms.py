"""What an admin fills in to make and fill a catalog."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.urls import reverse_lazy
from django.utils.text import slugify

from catalog.images.remote_originals import is_open
from catalog.importing.origins import Origin, allowed_folder, offered_folders
from catalog.importing.uploads import keep_upload
from catalog.models import Catalog
from catalog.services import catalog_name, check_slug
from catalog.short_names import typing_attributes
from lookalike.core.errors import Refused
from lookalike.images.layouts.read import LAYOUTS
from lookalike.images.metadata import (
    MAX_BYTES,
    MetadataError,
    UnknownColumnsError,
    read_metadata,
)
from lookalike.images.sources import SourceError
from lookalike.io.encodings import encoding_name

TABLE_ENDINGS = ".csv,.tsv,.txt,.xlsx,.xls,.ods,.json,.jsonl,.parquet"


class ImportForm(forms.Form):
    """Where the pictures come from, and what is known about them."""

    upload = forms.FileField(
        label="Zip file of pictures",
        required=False,
        help_text="JPEG, PNG, WebP, TIFF, GIF, BMP, AVIF and HEIC; folders inside are fine.",
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
    )
    folder = forms.ChoiceField(label="or a folder of the server", required=False)
    inside = forms.CharField(
        label="and a folder inside it",
        required=False,
        max_length=500,
        help_text="For example 2026/autumn. Leave empty for the whole folder.",
    )
    manifest = forms.FileField(
        label="or a manifest of pictures that stay where they are",
        required=False,
        help_text="CSV, JSON lines or parquet with the column url (http, https or s3://); "
        "product_id, sha256 and attributes beside it. Previews are made here, originals are read "
        "where they are.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.jsonl,.json,.parquet"}),
    )
    metadata = forms.FileField(
        label="Metadata",
        required=False,
        help_text="A table from any spreadsheet: CSV, Excel, JSON, JSON lines or parquet. One "
        "column names the file, one the product, the others are attributes. None given: the file "
        "metadata.csv next to the pictures, if there is one.",
        widget=forms.ClearableFileInput(attrs={"accept": TABLE_ENDINGS}),
    )
    check_columns = forms.BooleanField(
        label="Show me the columns first",
        required=False,
        help_text="You see five rows and say which column is the file, the product, an attribute.",
    )
    accept_findings = forms.BooleanField(
        label="Take the values as they stand",
        required=False,
        help_text="Even where Yes and yes, 7 and 007, or nan would merge or split products or "
        "classes. Otherwise you are asked.",
    )

    layout = forms.ChoiceField(
        label="or a published data set",
        required=False,
        choices=[("", "None"), *((name, known.title) for name, known in LAYOUTS.items())],
        help_text="In the folders and lists of its authors, which say products, classes, splits "
        "and boxes.",
    )
    where = forms.CharField(
        label="Only images with",
        required=False,
        max_length=200,
        help_text="An attribute and its value, such as split=test. Empty: all.",
    )

    names_encoding = forms.CharField(
        label="Encoding of names in the zip",
        required=False,
        max_length=40,
        help_text="Only if the report shows wrong names: shift_jis, cp1252, gbk and so on.",
    )

    def __init__(self, *args: Any, catalog: Catalog | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.needs_check = False  # a person has to look at the columns or values first
        self.may_only_describe = catalog is not None and catalog.images.exists()
        offered = [(str(path), str(path)) for path in offered_folders()]
        if offered:
            choices = forms.ChoiceField(choices=[("", "No folder: upload a zip"), *offered])
            self.fields["folder"].choices = choices.choices  # type: ignore[attr-defined]
        else:
            del self.fields["folder"], self.fields["inside"]
        if not is_open():
            del self.fields["manifest"]

    def clean_upload(self) -> UploadedFile[bytes] | None:
        """Refuse at once what is no zip file."""
        upload: UploadedFile[bytes] | None = self.cleaned_data["upload"]
        if upload is not None and not zipfile.is_zipfile(upload):
            raise forms.ValidationError(f"{upload.name} is not a zip file, or it is damaged.")
        return upload

    def clean_names_encoding(self) -> str:
        """Refuse an encoding that nobody knows."""
        given: str = self.cleaned_data["names_encoding"]
        if given and encoding_name(given) is None:
            raise forms.ValidationError(f"“{given}” is no encoding that is known.")
        return given

    def clean_metadata(self) -> UploadedFile[bytes] | None:
        """Refuse at once what cannot be used as a whole; wrong rows are reported later."""
        upload: UploadedFile[bytes] | None = self.cleaned_data["metadata"]
        if upload is not None:
            try:
                found = read_metadata(upload.read(MAX_BYTES + 1), str(upload.name))
                self.needs_check = bool(found.grave_findings)
            except UnknownColumnsError:
                self.needs_check = True
            except MetadataError as problem:
                raise forms.ValidationError(str(problem)) from problem
            upload.seek(0)
        return upload

    def clean(self) -> dict[str, Any]:
        """Check that there is exactly one source, and at most one that describes it."""
        cleaned = super().clean() or {}
        self.needs_check &= not cleaned.get("accept_findings")
        self.needs_check |= bool(cleaned.get("check_columns") and cleaned.get("metadata"))
        manifest = cleaned.get("manifest")
        if manifest and (cleaned.get("metadata") or cleaned.get("layout")):
            self.add_error("manifest", "A manifest says it all; leave out the metadata and set.")
        if cleaned.get("metadata") and cleaned.get("layout"):
            self.add_error("layout", "A published data set says it all; leave out the metadata.")
        if cleaned.get("layout") == "hugging-face" and cleaned.get("upload"):
            self.add_error("layout", "A Hugging Face data set is taken from a server folder.")
        if cleaned.get("where") and "=" not in cleaned["where"]:
            self.add_error("where", "Write attribute=value, such as split=test.")
        folder = cleaned.get("folder")
        if self.errors.keys() & {"upload", "folder", "manifest"}:
            return cleaned
        given = [name for name in ("upload", "folder", "manifest") if cleaned.get(name)]
        if not given and self.may_only_describe and cleaned.get("metadata"):
            pass  # new metadata for pictures that are here
        elif not given:
            either = " or choose a folder" if settings.IMPORT_FOLDERS else ""
            self.add_error("upload", f"Choose a zip file{either}.")
        elif len(given) > 1:
            self.add_error(given[1], "Choose one of zip file, folder and manifest, not both.")
        elif folder:
            try:
                cleaned["real_folder"] = allowed_folder(str(Path(folder) / cleaned["inside"]))
            except SourceError as problem:
                self.add_error("inside", str(problem))
        return cleaned

    def keep(self) -> Origin:
        """Store what was uploaded and return where the import finds it.

        Raises:
            Refused: too large.
            OSError: the disk is full.
        """
        upload, metadata = self.cleaned_data["upload"], self.cleaned_data["metadata"]
        folder: Path = self.cleaned_data.get("real_folder", Path())
        if manifest := self.cleaned_data.get("manifest"):
            return Origin(
                upload=keep_upload(manifest, "meta", MAX_BYTES),
                source_name=manifest.name,
                where=self.cleaned_data["where"],
                is_manifest=True,
            )
        source_name = upload.name if upload else folder.name
        return Origin(
            path="" if upload or not folder.name else str(folder),
            upload=keep_upload(upload, "zip") if upload else "",
            metadata_upload=keep_upload(metadata, "meta") if metadata else "",
            source_name=source_name or metadata.name,
            metadata_name=metadata.name if metadata else "",
            layout=self.cleaned_data["layout"],
            names_encoding=self.cleaned_data["names_encoding"] if upload else "",
            where=self.cleaned_data["where"],
            accept_findings=self.cleaned_data["accept_findings"],
        )


class NewCatalogForm(ImportForm):
    """A catalog's name, and its first import."""

    name = forms.CharField(
        max_length=200,
        label="Name",
        widget=forms.TextInput(
            attrs=typing_attributes(reverse_lazy("catalog:name")) | {"hx-include": "#id_slug"}
        ),
    )
    slug = forms.SlugField(
        max_length=80,
        required=False,
        label="Short name",
        widget=forms.TextInput(
            attrs=typing_attributes(reverse_lazy("catalog:name")) | {"hx-include": "#id_name"}
        ),
        help_text="For addresses and commands: letters, digits, - and _. "
        "It cannot be changed later.",
    )
    description = forms.CharField(
        label="Description",
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Where the pictures come from, and under which licence.",
    )
    field_order = [
        *("name", "slug", "description", "upload", "folder", "inside"),
        *("manifest", "metadata", "check_columns", "accept_findings"),
        *("layout", "where", "names_encoding"),
    ]

    def clean_slug(self) -> str:
        """Make a short name from the name if none was given; refuse one that is taken."""
        slug: str = self.cleaned_data["slug"] or slugify(self.data.get("name", ""))[:80]
        if not slug and self.data.get("name", "").strip():
            raise forms.ValidationError("Give a short name: the name has no letters for one.")
        if not slug:
            raise forms.ValidationError("Comes from the name, which is missing.")
        try:
            check_slug(slug)
        except Refused as problem:
            raise forms.ValidationError(str(problem)) from problem
        if Catalog.objects.filter(slug=slug).exists():
            free = catalog_name(slug).free
            raise forms.ValidationError(f"There is a catalog “{slug}” already; {free} is free.")
        return slug


class DeleteForm(forms.Form):
    """The short name, typed, so that nobody deletes a catalog by a slip."""

    slug = forms.CharField(label="Short name of the catalog", max_length=80)

    def __init__(self, *args: Any, catalog: Catalog, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.catalog = catalog
        self.fields["slug"].widget.attrs["autocomplete"] = "off"

    def clean_slug(self) -> str:
        """Compare with the catalog's short name."""
        slug: str = self.cleaned_data["slug"]
        if slug != self.catalog.slug:
            raise forms.ValidationError(f"That is not “{self.catalog.slug}”.")
        return slug
