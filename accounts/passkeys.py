"""The form that adds a passkey."""

from __future__ import annotations

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.utils.translation import gettext_lazy as _


class PasskeyForm(AddWebAuthnForm):
    """allauth's form in this site's words; a passkey signs in alone unless somebody says not."""

    passwordless = forms.BooleanField(
        label=_("Sign in with it alone, without a password"),
        required=False,
        initial=True,
        help_text=_("The device then asks for your finger, face or PIN. Old keys cannot do that."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("By which you will know it, such as Phone.")
