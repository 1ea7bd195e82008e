"""Forms of the campaign pages: settings, panel, guidelines."""

from __future__ import annotations

from copy import copy
from typing import Any, cast

from django import forms
from django.forms.models import construct_instance

from accounts.languages import choices as language_names
from accounts.models import Role, User
from annotation.models import Campaign, CampaignState
from annotation.notions import learned_notions
from annotation.services.guidelines import MAX_GUIDELINE
from annotation.services.settings import IN_DRAFT, MOST_AGAIN, has_fixed_ties, wrong_numbers
from annotation.setting_names import LABELS, speak_of

GRADES_HELP = (
    "Two to five words, from the least similar, which is grade 0. Judges answer with the digits, a "
    "pair at a time: sheets have no grades."
)
BOUNDS = {
    "k": {"min": 1},
    "lease_minutes": {"min": 1},
    "repeat_percent": {"max": MOST_AGAIN},
    "mirror_percent": {"max": MOST_AGAIN},
    "pass_percent": {"max": 100},
}
OF_PAIRS = ("grades", "similar_from", "notion", "notion_model")


def _empty_for_good(campaign: Campaign) -> list[str]:
    """Return the settings that were left empty and cannot be set any more: nothing to show."""
    unset = [] if campaign.grades else ["grades", "similar_from"]
    return unset + [name for name in ("notion", "notion_model") if not getattr(campaign, name)]


def grades_in(text: str) -> str:
    """Return the words of grades as they are stored: one a line, nothing around them."""
    return "\n".join(word.strip() for word in text.splitlines() if word.strip())


class SettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """A campaign's rules; what is fixed once the queues are drawn is shown disabled."""

    class Meta:
        model = Campaign
        fields = [
            "name", "notion", "notion_model", "grades", "similar_from", "tie_rule", "serving", "k",
            "lease_minutes", "closes_settled",
            "repeat_percent", "mirror_percent", "pass_percent", "seed",
        ]  # fmt: skip
        widgets = {"grades": forms.Textarea(attrs={"rows": 5})}
        labels = LABELS
        help_texts = {
            "grades": GRADES_HELP + " Leave it empty to ask for similar or different.",
            "notion_model": "Kept in labels and releases with its prompts; no judge sees it.",
            "mirror_percent": (
                "Pairs asked again with query and candidate swapped, in percent. Only where the "
                "candidate is a query of the campaign, too, so there may be fewer."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, bounds in BOUNDS.items():
            self.fields[name].widget.attrs |= bounds
        self.fields["similar_from"].required = False
        for field in self.fields.values():
            field.show_hidden_initial = True  # so that two admins do not undo each other
        if self.instance.kind.is_choice:
            for name in ("tie_rule", "mirror_percent", *OF_PAIRS):
                del self.fields[name]
            speak_of(self.instance.kind, self)
        else:
            self._offer_notions()
        if self.instance.state != CampaignState.DRAFT:
            fixed = (*IN_DRAFT, "tie_rule") if has_fixed_ties(self.instance) else IN_DRAFT
            for name in self.fields.keys() & set(fixed):
                self.fields[name].disabled = True
            for name in _empty_for_good(self.instance):
                self.fields.pop(name, None)

    def _offer_notions(self) -> None:
        """List the learned notions, and the campaign's own, which may have gone since."""
        known = {one.spec: f"{one.name} ({one.spec})" for one in learned_notions()}
        own = self.instance.notion_model
        offered = {"": "None"} | ({own: own} if own else {}) | known
        if len(offered) == 1:
            del self.fields["notion_model"]
            return
        self.fields["notion_model"].widget = forms.Select(choices=list(offered.items()))

    def clean_similar_from(self) -> int:
        """Keep the threshold where none is given."""
        given = self.cleaned_data["similar_from"]
        return int(self.instance.similar_from if given is None else given)

    def clean_grades(self) -> str:
        """Take the words without what stands around them."""
        return grades_in(self.cleaned_data["grades"])

    def clean(self) -> dict[str, Any]:
        """Say what is out of range at its field, which constraints of the database do not."""
        given = super().clean() or self.cleaned_data
        wanted = construct_instance(self, copy(self.instance), ["serving", *BOUNDS])
        for name, problem in wrong_numbers(wanted).items():
            self.add_error(name if name in self.fields else None, problem)
        return given

    @property
    def seen(self) -> dict[str, Any]:
        """What the settings were when the form was shown, as far as it says."""
        seen = {}
        for name, field in self.fields.items():
            stored = self.data.get(self.add_initial_prefix(name))
            if stored is not None:
                seen[name] = (grades_in if name == "grades" else field.to_python)(stored)
            elif isinstance(field, forms.BooleanField) and self._says_what_was:
                seen[name] = False
        return seen

    @property
    def _says_what_was(self) -> bool:
        return self.add_initial_prefix("name") in self.data

    @property
    def changes(self) -> dict[str, Any]:
        """What is to be changed; all there is, where the form does not say what it was."""
        seen = self.seen
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if (name not in seen or seen[name] != value) and self._is_sent(name)
        }

    def _is_sent(self, name: str) -> bool:
        """Whether the form came with a field: what it does not name stays as it is."""
        widget = self.fields[name].widget
        return not widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name))

    def see_again(self, campaign: Campaign) -> None:
        """Show what others have set meanwhile beside what was typed, and take it as seen."""
        data, seen, changes = self.data.copy(), self.seen, self.changes  # type: ignore[attr-defined]
        for name in self.fields.keys() & seen.keys():
            value = getattr(campaign, name)
            data[self.add_initial_prefix(name)] = value
            if name not in changes:
                data[self.add_prefix(name)] = value
        self.data = data


class ReasonForm(forms.Form):
    """Why a campaign is opened again, paused or closed."""

    reason = forms.CharField(max_length=500, widget=forms.TextInput)


class PeopleField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """People by name, with a word about those who are programs."""

    def label_from_instance(self, obj: User) -> str:
        """Return a person’s username, and the full name behind it."""
        name = obj.get_full_name()
        known = f"{obj.username} ({name})" if name else obj.username
        return f"{known}, simulated" if obj.is_simulated else known


class MembersForm(forms.Form):
    """Annotators to put on the panel."""

    annotators = PeopleField(queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast("PeopleField", self.fields["annotators"]).queryset = (
            User.objects.filter(role=Role.ANNOTATOR, is_active=True)
            .exclude(memberships__campaign=campaign)
            .order_by("username")
        )


class GuidelinesForm(forms.Form):
    """What judges are told, in markdown."""

    text = forms.CharField(
        max_length=MAX_GUIDELINE,
        required=False,
        strip=True,
        label="Guidelines (markdown)",
        help_text=(
            "A picture of the catalog, by path, uid or SHA-256: "
            "![same cut](&lt;coats/3.jpg&gt;)"  # help is HTML
        ),
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "true"}),
    )
    language = forms.ChoiceField(required=False, label="Language of this text")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        languages = language_names()
        self.fields["language"].choices = languages  # type: ignore[attr-defined]
        for code, name in languages:
            self.fields[f"text_{code}"] = forms.CharField(
                max_length=MAX_GUIDELINE,
                required=False,
                label=name,
                widget=forms.Textarea(attrs={"rows": 10, "lang": code}),
            )

    @property
    def translations(self) -> dict[str, str]:
        """The texts in other languages, by their codes."""
        given = {code: self.cleaned_data[f"text_{code}"] for code, _ in language_names()}
        return {code: text for code, text in given.items() if text}

    @property
    def translation_fields(self) -> list[forms.BoundField]:
        """The fields of all languages."""
        return [self[f"text_{code}"] for code, _ in language_names()]
