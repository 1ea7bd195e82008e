from django.urls import include, path

from benchmarks.judging_site.views import floor

urlpatterns = [path("floor", floor), path("", include("config.urls"))]
