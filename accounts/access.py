"""Who may open a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext

from accounts.models import Role, User

type_of_view = Callable[..., HttpResponseBase]

PERSON_HEADER = "HTTP_LOOKALIKE_PERSON"  # as Django has it; `request.headers` is a dict anew
SECOND_FACTOR = "This site asks its admins for a second factor, and you have none yet."


def signed_in(request: HttpRequest) -> User:
    """Return the person behind a request; only for views that require one."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def lacks_second_factor(person: User) -> bool:
    """Tell whether the site demands a second factor of this person, who has none."""
    if not settings.REQUIRE_ADMIN_MFA or not (person.is_admin or person.is_staff):
        return False
    return not is_mfa_enabled(person, [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN])


def role_required(*roles: Role) -> Callable[[type_of_view], type_of_view]:
    """Let only people with one of `roles` in; others get 403, strangers the sign-in page.

    A page that stays open says in a header whose it is. Where somebody else has signed in since
    in the same browser, it gets 403, so that nothing of the first person's is stored as theirs.
    """

    def decorate(view: type_of_view) -> type_of_view:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if signed_in(request).role not in roles:
                raise PermissionDenied
            person = str(request.user.pk)
            if request.META.get(PERSON_HEADER, person) != person:
                error = gettext(
                    "Somebody else is signed in here now. Sign in as yourself in another tab, "
                    "then try again here."
                )
                return JsonResponse({"error": error}, status=403)
            return view(request, *args, **kwargs)

        return guarded

    return decorate


admin_required = role_required(Role.ADMIN)
reader_required = role_required(Role.ADMIN, Role.RESEARCHER)
annotator_required = role_required(Role.ANNOTATOR)
