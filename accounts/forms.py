"""Forms about people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.forms import (
    ChangePasswordForm,
    LoginForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
)
from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from accounts.languages import choices, language_of
from accounts.models import Role, Scope, User
from accounts.tokens.services import allowed_scopes

NEW_PASSWORD = {"password1": _("New password"), "password2": _("New password (again)")}


class _OwnLabels:
    """Labels allauth's forms as ours, without placeholders, which say what the labels say."""

    fields: dict[str, forms.Field]
    labels: Mapping[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.label = self.labels.get(name, field.label)


class NewPasswordForm(_OwnLabels, ChangePasswordForm):
    """Asks for the password of before, too."""

    labels = {"oldpassword": _("Current password"), **NEW_PASSWORD}


class FirstPasswordForm(_OwnLabels, ResetPasswordKeyForm):
    """Behind a link that was sent."""

    labels = NEW_PASSWORD

    def save(self) -> None:
        """Go on in the person's language: the page that the message stands on is in it."""
        super().save()
        if self.user.language:
            translation.activate(language_of(self.user))


class ForgottenPasswordForm(_OwnLabels, ResetPasswordForm):
    """Asks for the address that a link is sent to."""


class SignInForm(_OwnLabels, LoginForm):
    """Asks for user name or address, and the password."""

    labels = {"login": _("User name or email")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs |= {"autocomplete": "username", "autocapitalize": "none"}
        self.fields["password"].help_text = ""


def roles_to_give(actor: User) -> list[tuple[str, str]]:
    """Return the roles an admin may give; only superusers make admins."""
    return [
        (role.value, str(role.label)) for role in Role if role != Role.ADMIN or actor.is_superuser
    ]


class LanguageForm(forms.ModelForm):  # type: ignore[type-arg]
    """What asks for a person's language, too."""

    language = forms.ChoiceField(required=False, label=_("Language"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "language" in self.fields:
            unset = ("", _("As the browser asks"))
            self.fields["language"].choices = [unset, *choices()]  # type: ignore[attr-defined]


class DetailsForm(LanguageForm):
    """Name and address of a person, and the language of the pages and mails they get."""

    class Meta:
        model = User
        fields = ["first_name", "last_name", "email", "language"]
        labels = {"email": "Email"}

    def clean_email(self) -> str:
        """Refuse an address that another account has: it could not be used to sign in."""
        email: str = self.cleaned_data["email"].lower()
        others = User.objects.exclude(pk=self.instance.pk)
        if email and others.filter(email__iexact=email).exists():
            raise forms.ValidationError(_("Another account has this email address."))
        return email


class AdminForm(DetailsForm, UserCreationForm):  # type: ignore[type-arg]
    """An admin who was not invited: the first of a site, or one made on its machine."""

    language = None  # type: ignore[assignment]  # takes the field away

    class Meta(DetailsForm.Meta):
        fields = ["username", "email"]
        labels = {"username": "User name", "email": "Email"}
        help_texts = {
            "username": "Letters, digits and @ . + - _ only.",
            "email": "A forgotten password is reset through it.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].required = True
        self.fields["password2"].help_text = ""


class InvitationForm(DetailsForm):
    """A new person."""

    role = forms.ChoiceField(
        help_text=(
            "Annotators judge pairs and stay blind to everything else; researchers read results "
            "and download labels; admins run catalogs, pools and campaigns."
        )
    )
    sends_mail = forms.BooleanField(
        required=False, label="Also send the link by email", initial=False
    )

    class Meta(DetailsForm.Meta):
        fields = ["username", "first_name", "last_name", "email", "language"]

    def __init__(self, *args: Any, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = roles_to_give(actor)  # type: ignore[attr-defined]
        self.fields["username"].help_text = "Letters, digits and @ . + - _ only."
        self.fields["username"].label = "User name"

    def clean(self) -> dict[str, Any]:
        """Ask for an address where a mail is to go to it."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("sends_mail") and not cleaned.get("email"):
            self.add_error("email", "Give an address, or untick the mail.")
        return cleaned


class RoleForm(forms.Form):
    """Another role for a person."""

    role = forms.ChoiceField()

    def __init__(self, *args: Any, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = roles_to_give(actor)  # type: ignore[attr-defined]


class ProfileForm(LanguageForm):
    """What people may change about themselves."""

    class Meta:
        model = User
        fields = ["first_name", "last_name", "language"]


class TokenForm(forms.Form):
    """A new access token."""

    name = forms.CharField(
        max_length=100, label="Name", help_text="Where you use it, such as “notebook at work”."
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do", widget=forms.CheckboxSelectMultiple, initial=[Scope.READ.value]
    )
    days = forms.TypedChoiceField(
        label="Lasts",
        coerce=int,
        initial=90,
        choices=[(7, "a week"), (30, "30 days"), (90, "90 days"), (365, "a year")],
    )

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].choices = [  # type: ignore[attr-defined]
            (scope.value, str(scope.label)) for scope in Scope if scope in allowed_scopes(owner)
        ]
