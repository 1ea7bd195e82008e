"""The forms of releases: what is to be frozen, and what is submitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Campaign, CampaignState
from catalog.models import Catalog
from conditional.models import TripletSet
from lookalike.agreement.grades import MOST_GRADES
from lookalike.io.repeats import Repeats
from lookalike.release.errors import ReleaseError
from releases.freeze.requests import (
    DEFAULT_IMAGE_TERMS,
    DEFAULT_LICENCE,
    FreezeRequest,
    short_name,
    title_as_author,
)
from releases.importing.release import LABELS
from releases.models import Release, Submission
from releases.services import check_request
from releases.site.queries import releasable_template_campaigns, releasable_triplets
from releases.submissions.submission_scoring import file_problem


class FreezeForm(forms.Form):
    """What an admin says when freezing a release."""

    campaigns = forms.ModelMultipleChoiceField(
        queryset=Campaign.objects.none(),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        help_text="Judging may go on: what is frozen is one moment.",
    )
    title = forms.CharField(max_length=200)
    slug = forms.SlugField(
        label="Short name",
        max_length=80,
        help_text="The same for every version; a-z, 0-9, - and _.",
        error_messages={"invalid": "Use letters a-z, digits, - and _ alone."},
    )
    version = forms.CharField(initial="1.0.0", help_text="MAJOR.MINOR.PATCH; never used twice.")
    authors = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One a line: an institution, or a person as Family, Given, perhaps with an "
        "ORCID behind.",
        error_messages={"required": "Say who made it: the release is cited by their names."},
    )
    description = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="Why it was made."
    )
    changes = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="For the changelog; what changed in numbers is found by itself.",
    )
    url = forms.URLField(
        label="Address", required=False, assume_scheme="https", help_text="Where it will be found."
    )
    label_licence = forms.CharField(label="Licence of the labels", initial=DEFAULT_LICENCE)
    image_terms = forms.CharField(
        label="Terms of the images",
        initial=DEFAULT_IMAGE_TERMS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    with_images = forms.BooleanField(
        required=False,
        label="Include images",
        help_text="Only where their licence allows. Otherwise it names them by SHA-256 and path.",
    )
    with_metadata = forms.BooleanField(
        required=False,
        label="Keep the images’ metadata",
        help_text="EXIF, GPS position, camera and comments. Otherwise they are removed; the pixels "
        "stay as they are.",
    )
    with_runs = forms.BooleanField(
        required=False, label="Uploaded runs take part", help_text="With their scores of pairs."
    )
    template_sets = forms.ModelMultipleChoiceField(
        queryset=Campaign.objects.none(),
        to_field_name="slug",
        required=False,
        label="Verified templates",
        widget=forms.CheckboxSelectMultiple,
        help_text="Of closed campaigns over the same catalog; with GeneCIS JSON of what passed.",
    )
    triplet_sets = forms.ModelMultipleChoiceField(
        queryset=TripletSet.objects.none(),
        to_field_name="slug",
        required=False,
        label="Triplets",
        widget=forms.CheckboxSelectMultiple,
        help_text="Sets with answers, over the same catalog.",
    )
    is_public = forms.BooleanField(
        required=False,
        label="Show it to everybody",
        help_text="Without signing in; judges of a campaign that is still open could see labels.",
    )
    hidden_percent = forms.IntegerField(
        label="Queries with hidden labels, in percent",
        min_value=0,
        max_value=90,
        initial=0,
        help_text="None, or at least 50 queries. Submissions are scored on them, too. Results and "
        "labels of the campaigns are then shown to admins alone, here and in the API. What an "
        "earlier version hides stays hidden, whatever is said here; what one shows is known and "
        "is never hidden.",
    )
    expertise = forms.CharField(required=False, help_text="Of the judges, for the datasheet.")
    demographics = forms.CharField(
        required=False,
        help_text="Of the judges as a group: languages, regions, ages. Nothing that tells one.",
    )
    payment = forms.CharField(label="Payment and consent", required=False)
    intended = forms.CharField(label="Intended use", required=False)
    excluded = forms.CharField(label="Not intended use", required=False)
    social_impact = forms.CharField(
        required=False, help_text="Whom results may harm, and what was done about it."
    )
    personal_information = forms.CharField(
        required=False, help_text="What the images show of people: faces, names, places."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        judged = Campaign.objects.of_pairs().exclude(state=CampaignState.DRAFT).order_by("name")
        choices: dict[str, QuerySet[Any]] = {
            "campaigns": judged,
            "template_sets": releasable_template_campaigns(),
            "triplet_sets": releasable_triplets(),
        }
        for name, queryset in choices.items():
            if name != "campaigns" and not queryset.exists():
                del self.fields[name]
            else:
                cast("forms.ModelMultipleChoiceField[Any]", self.fields[name]).queryset = queryset

    def clean(self) -> dict[str, Any]:
        """Check all of it as a request."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self.request = _request(cleaned)
            check_request(self.request)
        except ReleaseError as problem:
            raise forms.ValidationError(str(problem)) from problem
        return cleaned


def _request(cleaned: dict[str, Any]) -> FreezeRequest:
    names = (
        *("slug", "title", "version", "description", "changes", "url", "label_licence"),
        *("image_terms", "with_images", "with_metadata", "with_runs", "is_public"),
        *("hidden_percent", "expertise", "demographics", "payment", "intended", "excluded"),
        *("social_impact", "personal_information"),
    )
    return FreezeRequest(
        campaigns=tuple(campaign.slug for campaign in cleaned["campaigns"]),
        template_sets=tuple(sorted(chosen.slug for chosen in cleaned.get("template_sets", ()))),
        triplet_sets=tuple(sorted(chosen.slug for chosen in cleaned.get("triplet_sets", ()))),
        date=f"{timezone.localdate():%Y-%m-%d}",
        authors=tuple(line.strip() for line in cleaned["authors"].splitlines() if line.strip()),
        **{name: cleaned[name] for name in names},
    )


def first_words(campaign: Campaign | None) -> dict[str, Any]:
    """Return what the form says at first: the next version of what this campaign gave before."""
    if campaign is None:
        return {}
    before = Release.objects.filter(campaigns=campaign).order_by("-pk").first()
    if before is None:
        slug = short_name(campaign.slug)
        return {"campaigns": [campaign.slug], "title": campaign.name, "slug": slug}
    info = before.info
    highest = Release.objects.filter(slug=before.slug).latest("major", "minor")
    return {
        "campaigns": [campaign.slug],
        "title": before.title,
        "slug": before.slug,
        "version": f"{highest.major}.{highest.minor + 1}.0",
        "description": before.description,
        "authors": "\n".join(_named_authors(info)),
        "url": info["url"],
        "label_licence": info["licence"]["labels"],
        "image_terms": info["licence"]["images"],
        "with_images": info["licence"]["with_images"],
        "with_metadata": info["licence"].get("image_metadata") == "kept",
        "hidden_percent": info["hidden_percent"],
        "template_sets": [entry["slug"] for entry in info.get("template_sets", ())],
        "triplet_sets": [entry["slug"] for entry in info.get("triplet_sets", ())],
        **info["panel"],
        **info["uses"],
    }


def _named_authors(info: dict[str, Any]) -> list[str]:
    """Return the authors of an earlier release; none where its title stands for them."""
    authors: list[str] = info["authors"]
    return [] if authors == title_as_author(info["title"]) else authors


class ImportForm(forms.Form):
    """A release or a file of votes or labels to be continued here as a campaign."""

    file = forms.FileField(
        label="Release, votes or labels",
        help_text="The zip of a release, or of a task of the VSD benchmark; votes of Label Studio, "
        "FiftyOne, CSV or parquet; or labels as VSD JSON, TREC qrels (.txt, .qrels), CSV or "
        "parquet.",
    )
    catalog = forms.ModelChoiceField(
        Catalog.objects.order_by("name"),
        to_field_name="slug",
        help_text="Holds the images. A release names them by SHA-256, votes and labels by path.",
    )
    query_catalog = forms.ModelChoiceField(
        Catalog.objects.order_by("name"),
        to_field_name="slug",
        required=False,
        label="Catalog of the queries",
        empty_label="The same",
        help_text="Where queries have a catalog of their own.",
    )
    slug = forms.SlugField(
        label="Short name",
        max_length=60,
        help_text="Of the new campaign; a-z, 0-9, - and _.",
        error_messages={"invalid": "Use letters a-z, digits, - and _ alone."},
    )
    name = forms.CharField(
        max_length=200,
        required=False,
        help_text="For labels and tasks; a release brings the names of its campaigns.",
    )
    min_rel = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_GRADES - 1,
        label="Similar from grade",
        help_text="For labels that are grades, 0, 1, 2 …: the least that counts as similar. The "
        "campaign asks for grades then.",
    )
    repeats = forms.ChoiceField(
        required=False,
        choices=[
            ("", "are an error"),
            (Repeats.FIRST.value, "the first counts"),
            (Repeats.LAST.value, "the last counts"),
        ],
        label="Two answers of one judge to a pair",
        help_text="Applies to votes only.",
    )
    control = forms.CharField(
        max_length=200,
        required=False,
        label="Control of Label Studio",
        help_text="The name of the control with the answers, where several may have them.",
    )

    def clean_file(self) -> UploadedFile[bytes]:
        """Refuse what no reader takes, before it is stored."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        ending = Path(str(file.name)).suffix.lower()
        if ending not in {".zip", *LABELS}:
            raise forms.ValidationError(
                f"“{file.name}” is neither a zip nor one of {', '.join(LABELS)}."
            )
        return file

    def clean_slug(self) -> str:
        """Refuse a name that another campaign has."""
        slug = str(self.cleaned_data["slug"]).lower()
        if Campaign.objects.filter(slug=slug).exists():
            raise forms.ValidationError("A campaign has that short name. Choose another one.")
        return slug


class SubmissionForm(forms.Form):
    """A run or embeddings for a release."""

    name = forms.CharField(max_length=200, help_text="As the leaderboard shall show it.")
    file = forms.FileField(
        label="Scores or embeddings",
        help_text="A TREC run, CSV or parquet of scores; or embeddings as .npz or parquet.",
    )
    missing = forms.ChoiceField(
        label="Pairs without a score",
        choices=[
            ("error", "are an error: refuse the run"),
            ("worst", "count as the worst, all tied below the others"),
        ],
        help_text="Lists cut at a depth lack scores of pairs put to the judges: let those count as "
        "the worst. The release’s own run files are known and lack none.",
    )
    lower_is_better = forms.BooleanField(
        required=False,
        label="Scores are distances: lower is better",
        help_text="Only for files of scores; embeddings are ranked by cosine.",
    )
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, release: Release, owner_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._release = release
        self._owner_id = owner_id

    def clean_name(self) -> str:
        """Refuse a name that stands on the leaderboard already."""
        name = str(self.cleaned_data["name"]).strip()
        taken = {model["name"] for model in self._release.entrants}
        same = Submission.objects.filter(release=self._release, name=name)
        published = same.filter(is_published=True).exclude(owner_id=self._owner_id)
        if name in taken or published.exists():
            raise forms.ValidationError("That name is on the leaderboard. Choose another one.")
        return name

    def clean_file(self) -> UploadedFile[bytes]:
        """Refuse what cannot be scored before it is stored."""
        file: UploadedFile[bytes] = self.cleaned_data["file"]
        if problem := file_problem(str(file.name)):
            raise forms.ValidationError(problem)
        return file
