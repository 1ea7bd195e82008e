"""Addresses of releases."""

from django.urls import path

from releases.health import views as health_views
from releases.importing import views as importing_views
from releases.site import views
from releases.submissions import views as submissions_views

app_name = "releases"
urlpatterns = [
    path("releases/", views.home, name="home"),
    path("releases/freeze/", views.freeze, name="freeze"),
    path("releases/import/", importing_views.import_back, name="import"),
    path("releases/<slug:slug>/", views.newest, name="newest"),
    path("releases/<slug:slug>/health/", health_views.health, name="health"),
    path("releases/<slug:slug>/<str:version>/", views.release, name="release"),
    path("releases/<slug:slug>/<str:version>/datasheet/", views.datasheet, name="datasheet"),
    path(
        "releases/<slug:slug>/<str:version>/leaderboard.<slug:ending>",
        views.leaderboard_file,
        name="leaderboard_file",
    ),
    path("releases/<slug:slug>/<str:version>/CITATION.cff", views.citation_file, name="citation"),
    path("releases/<slug:slug>/<str:version>/archive.zip", views.archive, name="archive"),
    path("releases/<slug:slug>/<str:version>/files/<path:path>", views.file, name="file"),
    path(
        "releases/<slug:slug>/<str:version>/pictures/<slug:sha256>", views.picture, name="picture"
    ),
    path("releases/<slug:slug>/<str:version>/visibility/", views.visibility, name="visibility"),
    path("releases/<slug:slug>/<str:version>/submit/", submissions_views.submit, name="submit"),
    path("submissions/<uuid:uid>/publish/", submissions_views.publish, name="publish"),
    path("submissions/<uuid:uid>/delete/", submissions_views.delete, name="delete"),
]
