"""The forms that ask for training runs."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms

from catalog.browsing.facets import Attribute, list_attributes
from catalog.fields import CatalogField
from catalog.queries import chosen_catalog
from learning.combiners.recipes import MOST_TRIPLETS, CatalogCombiner
from learning.embeddings.recipes import MOST_DIMS, CatalogEmbedding
from learning.models import Family, TextSpace
from learning.runs.recipes import MOST_EPOCHS, PARENT, Recipe
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.learning.embeddings.recipe import (
    CONDITIONS,
    DISCOVERNET_OPTIONS,
    FINE_TUNING,
    MOST_CONDITIONS,
    NAMES,
    PRODUCT,
    PSEUDOLABELS,
    SINGLE,
)
from lookalike.learning.held_out import CLASSES, IMAGES, PRODUCTS, USUAL

METHOD_NAMES = {
    "multisimilarity": "Multisimilarity: images of one class come near",
    "margin": "Margin: a class lies within a boundary",
    "triplet": "Triplets",
    "s2sd": "S2SD: follows larger branches of itself",
    FINE_TUNING: "Fine-tuning: a head classifies each attribute",
    CONDITIONS: "CSN: each attribute is a condition",
    "mixture": "Mixture: sorts triplets by condition, which nobody names",
    "LSN": "LSN: guesses conditions",
    "SCE-Net": "SCE-Net: guesses them, mixes vectors",
    "DiscoverNet-Set": "DiscoverNet-Set: infers conditions, mixes distances",
    "DiscoverNet-Reg": "DiscoverNet-Reg: the same, and heeds the order of candidates",
    SINGLE: "One embedding of the same triplets",
}
HOLD_OUT_NAMES = {
    USUAL: "Products, or pictures where no product is known",
    PRODUCTS: "Products; their classes may be known",
    CLASSES: "Classes",
    IMAGES: "Pictures; their products may be known",
}
WORDS_NAMES = {
    "": "Nothing",
    NAMES: "Names of the classes (ELG)",
    PSEUDOLABELS: "What a classifier of ImageNet takes their pictures for (PLG)",
}


class RunForm(forms.Form):
    """What all runs ask for.

    Attributes:
        title: of the page.
        lead: what comes of it, in a sentence or two.
        details: fields that few need.
    """

    title: ClassVar[str]
    lead: ClassVar[str]
    details: ClassVar[tuple[str, ...]] = ("model", "epochs", "seed")

    name = forms.CharField(max_length=80)
    catalog = CatalogField()
    columns = forms.CharField(max_length=2_000, label="Attributes")
    model = forms.CharField(
        max_length=300,
        initial=PARENT,
        label="Backbone of the pictures",
        widget=forms.TextInput(attrs={"spellcheck": "false", "class": "mono"}),
    )
    epochs = forms.IntegerField(
        min_value=1, max_value=MOST_EPOCHS, help_text="How often each picture is seen."
    )
    seed = forms.IntegerField(min_value=0, initial=0)

    def clean_columns(self) -> tuple[str, ...]:
        """Read names with commas between."""
        columns = (column.strip() for column in self.cleaned_data["columns"].split(","))
        return tuple(filter(None, columns))

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """The fields that stand open."""
        return [field for field in self if field.name not in self.details]

    @property
    def detail_fields(self) -> list[forms.BoundField]:
        """The fields that are folded."""
        return [self[name] for name in self.details]

    @property
    def attributes(self) -> list[Attribute]:
        """What the catalog that is chosen says of its images; nothing before one is chosen."""
        catalog = chosen_catalog(self["catalog"].value())
        return [one for one in list_attributes(catalog) if one.n_values > 1] if catalog else []

    @property
    def has_detail_errors(self) -> bool:
        """Whether a folded field is wrong."""
        return any(name in self.errors for name in self.details)

    @property
    def recipe(self) -> Recipe:
        """What the fields ask for, once they are valid.

        Raises:
            Refused: they contradict one another; the field and the reason.
        """
        raise NotImplementedError


class SpaceForm(RunForm):
    """A text space: what its captions say."""

    title = "Learn a text space"
    lead = (
        "Captions are made of a catalog’s attributes, and two small networks learn which picture "
        "each of them is true of. It takes minutes; a fifth of the products is held out to see how "
        "well it went."
    )
    captions = forms.CharField(
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
        help_text="What the captions of an attribute say, one in each line: colour=a {} shoe. "
        "The others say: a photo of something whose colour is red.",
    )
    field_order = ("name", "catalog", "columns", "captions")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["columns"].required = False
        self.fields[
            "columns"
        ].help_text = (
            "Of which captions are made, with commas between. Empty: all that have 2 to 200 values."
        )
        self.fields[
            "model"
        ].help_text = "An open_clip model is a text space as it is: nothing is learned then."
        self.fields["epochs"].initial = 40

    def clean_captions(self) -> dict[str, str]:
        """Read COLUMN=CAPTION from each line."""
        captions = {}
        for line in filter(str.strip, self.cleaned_data["captions"].splitlines()):
            column, equals, caption = line.partition("=")
            if not equals or "{}" not in caption:
                raise forms.ValidationError(f"“{line}” is not ATTRIBUTE=CAPTION with {{}} in it.")
            captions[column.strip()] = caption.strip()
        return captions

    @property
    def recipe(self) -> SpaceRecipe:
        """As `RunForm`."""
        given = self.cleaned_data
        return SpaceRecipe(
            parent=given["model"], columns=given["columns"], captions=given["captions"],
            epochs=given["epochs"], seed=given["seed"],
        )  # fmt: skip


class EmbeddingForm(RunForm):
    """An embedding: its classes, what is learned of them, and what guides."""

    title = "Learn an embedding"
    lead = (
        "A small network maps a backbone’s vectors so that pictures which a catalog says belong "
        "together come near. It takes minutes; a fifth of the products is held out to see how "
        "well it went."
    )
    details = (
        "model", "weight", "dim", "hidden", "n_conditions", "hold_out", *DISCOVERNET_OPTIONS,
        "epochs", "seed",
    )  # fmt: skip
    method = forms.ChoiceField(
        choices=list(METHOD_NAMES.items()), label="What is learned",
        help_text="What guesses conditions is not told which attribute a triplet is about, and has "
        "to beat one embedding of the same triplets.",
    )  # fmt: skip
    words = forms.ChoiceField(
        choices=list(WORDS_NAMES.items()), required=False, label="Guided by words",
        help_text="Classes become as alike as their words are; not with fine-tuning or conditions.",
    )  # fmt: skip
    weight = forms.FloatField(min_value=0, initial=10, label="Weight of the words")
    dim = forms.IntegerField(
        min_value=0, max_value=MOST_DIMS, initial=128, label="Numbers",
        help_text="Of each picture; 0 for one linear map that begins as the identity.",
    )  # fmt: skip
    hidden = forms.IntegerField(
        min_value=0, max_value=MOST_DIMS, initial=512, label="Hidden layer",
        help_text="Its width; 0 for none.",
    )  # fmt: skip
    n_conditions = forms.IntegerField(
        min_value=0, max_value=MOST_CONDITIONS, initial=0, label="Conditions",
        help_text="Maps of what guesses them; 0 for as many as attributes.",
    )  # fmt: skip
    hold_out = forms.ChoiceField(
        choices=list(HOLD_OUT_NAMES.items()), required=False, label="Hold out",
        help_text="A fifth of these is not learned from, to see how well it went.",
    )  # fmt: skip
    is_branch_trained = forms.BooleanField(
        required=False, label="Train the condition branch",
        help_text="DiscoverNet only. Otherwise the branch stays as drawn, as in the released code.",
    )  # fmt: skip
    is_squared = forms.BooleanField(
        required=False, label="Squared distances", help_text="DiscoverNet only, equation 1."
    )
    is_cosine = forms.BooleanField(
        required=False, label="Match conditions by cosines",
        help_text="DiscoverNet only, equation 7.",
    )  # fmt: skip
    is_residual = forms.BooleanField(
        required=False, label="Residual maps", help_text="DiscoverNet only, equation 8."
    )
    temperature = forms.FloatField(
        min_value=0, initial=0, required=False, label="Temperature",
        help_text="DiscoverNet only, of the softmax over conditions; 0 for 1.",
    )  # fmt: skip
    field_order = ("name", "catalog", "columns", "method", "words")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["columns"].help_text = (
            f"With commas between, or {PRODUCT}. Pictures that agree in all of them are of one "
            "class; fine-tuning and conditions learn each by itself."
        )
        self.fields["epochs"].initial = 20

    @property
    def recipe(self) -> CatalogEmbedding:
        """As `RunForm`."""
        given = self.cleaned_data
        names = (
            "columns", "method", "words", "weight", "dim", "hidden", "n_conditions", "epochs",
            "seed", "hold_out", *DISCOVERNET_OPTIONS,
        )  # fmt: skip
        values = {name: given[name] for name in names} | {"temperature": given["temperature"] or 0}
        return CatalogEmbedding(parent=given["model"], **values)


class CombinerForm(RunForm):
    """A Combiner: its text space, and what is kept and changed."""

    title = "Learn a Combiner"
    lead = (
        "From a picture and a few words to the picture that is looked for: “of the same colour”, "
        "“whose colour is red”. A network learns it on captions made of a catalog’s attributes, "
        "where pictures and words can be compared already."
    )
    details = ("n_triplets", "epochs", "seed")
    model = None  # type: ignore[assignment]  # the space says it
    space = forms.ModelChoiceField(
        TextSpace.objects.none(), empty_label="Choose a text space", label="Text space"
    )  # fmt: skip
    subject = forms.CharField(
        max_length=200, help_text="The attribute that says what a picture shows: category, say."
    )
    same_values = forms.BooleanField(
        required=False, initial=True, label="Learn “of the same …”, too",
        help_text="Without it only changes are learned, as in the paper.",
    )  # fmt: skip
    n_triplets = forms.IntegerField(
        min_value=2, max_value=MOST_TRIPLETS, initial=20_000, label="Triplets"
    )
    field_order = ("name", "catalog", "space", "subject", "columns", "same_values")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["space"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
        field.queryset = TextSpace.objects.select_related("projection")
        self.fields["columns"].help_text = (
            "What can be kept or changed, with commas between. Each becomes a model of pools: what "
            "is looked for under “of the same …”."
        )
        self.fields["epochs"].initial = 5

    @property
    def recipe(self) -> CatalogCombiner:
        """As `RunForm`."""
        given = self.cleaned_data
        names = ("subject", "columns", "same_values", "n_triplets", "epochs", "seed")
        return CatalogCombiner(space=given["space"].slug, **{name: given[name] for name in names})


FORMS: dict[str, type[RunForm]] = {
    Family.SPACE: SpaceForm,
    Family.EMBEDDING: EmbeddingForm,
    Family.COMBINER: CombinerForm,
}
