"""The site's addresses: each app brings its own."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from api.reference import reference
from api.root import api
from config import checks  # noqa: F401  (registers them)
from config.operation.metrics import metrics
from config.pages.audit_page import audit_file, audit_page
from config.pages.overview import attention_fragment, overview_page
from config.pages.script_translations import words
from config.pages.security_txt import security_txt

# the back office has no sign-in of its own: throttling and second factor hold there too
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

handler400 = "config.pages.refusals.bad_request"
handler500 = "config.pages.errors.server_error"

urlpatterns = [
    path("", include("annotation.urls")),  # first, as addresses are tried in turn at each key press
    path(".well-known/security.txt", security_txt, name="security_txt"),
    path("metrics", metrics, name="metrics"),
    path("words/<slug:language>-<slug:version>.js", words, name="words"),
    path("overview/", overview_page, name="overview"),
    path("overview/attention/", attention_fragment, name="attention"),
    path("audit/", audit_page, name="audit"),
    path("audit/entries.csv", audit_file, name="audit_file"),
    path("", include("accounts.urls")),
    path("", include("jobs.urls")),
    path("", include("catalog.urls")),
    path("", include("pooling.urls")),
    path("", include("conditional.urls")),
    path("", include("learning.urls")),
    path("", include("evaluation.urls")),
    path("", include("releases.urls")),
    path("", include("notices.urls")),
    path("api/", reference, name="api_reference"),
    path("api/v1/", api.urls),
    path("accounts/email/", RedirectView.as_view(pattern_name="accounts:profile")),
    path("accounts/3rdparty/", RedirectView.as_view(pattern_name="accounts:profile")),
    path("accounts/sessions/", RedirectView.as_view(pattern_name="accounts:sessions")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
