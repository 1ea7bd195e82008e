"""Addresses of releases."""

from django.urls import path

from releases import views, views_imports, views_submissions

app_name = "releases"
urlpatterns = [
    path("releases/", views.home, name="home"),
    path("releases/freeze/", views.freeze, name="freeze"),
    path("releases/import/", views_imports.import_back, name="import"),
    path("releases/<slug:slug>/", views.newest, name="newest"),
    path("releases/<slug:slug>/<str:version>/", views.release, name="release"),
    path("releases/<slug:slug>/<str:version>/datasheet/", views.datasheet, name="datasheet"),
    path("releases/<slug:slug>/<str:version>/archive.zip", views.archive, name="archive"),
    path("releases/<slug:slug>/<str:version>/files/<path:path>", views.file, name="file"),
    path(
        "releases/<slug:slug>/<str:version>/pictures/<slug:sha256>", views.picture, name="picture"
    ),
    path("releases/<slug:slug>/<str:version>/visibility/", views.visibility, name="visibility"),
    path("releases/<slug:slug>/<str:version>/submit/", views_submissions.submit, name="submit"),
    path("submissions/<uuid:uid>/publish/", views_submissions.publish, name="publish"),
    path("submissions/<uuid:uid>/delete/", views_submissions.delete, name="delete"),
]
