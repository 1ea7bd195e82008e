"""The site's addresses: each app brings its own."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("accounts.urls")),
    path("", include("jobs.urls")),
    path("", include("catalog.urls")),
    path("", include("annotation.urls")),
    path("", include("pooling.urls")),
    path("", include("evaluation.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
