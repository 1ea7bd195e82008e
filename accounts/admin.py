"""People in the back office: to look at; only superusers change anything, and nobody is made here.

Everyday changes (invitations, roles, closing an account) belong to the People pages, which check
who may do what and write the audit log.
"""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from accounts.models import User
from audit.actions import Action
from audit.services import record

admin.site.unregister(Group)  # rights follow from the role
admin.site.unregister(EmailAddress)
admin.site.unregister([SocialAccount, SocialApp, SocialToken])  # set by OIDC_URL and its like
admin.site.unregister(UserSession)  # holds the keys of sessions
admin.site.unregister(Authenticator)  # holds the secrets of second factors


class Unchangeable:
    """Rows of which none is added, changed or deleted: facts stay, and people are pointed at."""

    def has_add_permission(self, request: HttpRequest, *args: object) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False


class LookingAdmin(Unchangeable, ModelAdmin):
    """Rows that admins may look at."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        user = request.user
        return isinstance(user, User) and user.is_active and user.is_staff and user.is_admin


@admin.register(User)
class UserAdmin(LookingAdmin):
    """Accounts; superusers may correct the flags that have no page of their own."""

    list_display = ["username", "role", "is_active", "is_staff", "is_superuser", "last_login"]
    list_filter = ["role", "is_active", "is_simulated"]
    search_fields = ["username", "first_name", "last_name", "email"]
    fields = [
        *("username", "first_name", "last_name", "email", "role"),
        *("is_active", "is_staff", "is_superuser", "is_simulated", "date_joined", "last_login"),
    ]
    readonly_fields = ["date_joined", "last_login"]

    def has_change_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        """Let superusers change others, so that no member of staff raises their own rights."""
        user = request.user
        may_look = self.has_view_permission(request)
        return may_look and bool(user.is_superuser) and (obj is None or obj != user)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Store a correction, on the record."""
        super().save_model(request, obj, form, change)
        after = {name: form.cleaned_data[name] for name in form.changed_data}
        record(request, Action.PERSON_CHANGED, obj, **after)

    def log_change(self, *_: object) -> None:
        """Keep no second log."""
