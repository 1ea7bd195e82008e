from django.urls import path

from learning.models import Family
from learning.notions import views as notions
from learning.runs import views as runs
from learning.text_spaces import views as text_spaces

app_name = "learning"
urlpatterns = [
    path("notions/", text_spaces.home, name="home"),
    path("notions/new/", runs.new, {"family": Family.SPACE}, name="new"),
    path("notions/learned/", runs.runs, name="runs"),
    path("notions/learned/new/", runs.new, {"family": Family.EMBEDDING}, name="new_embedding"),
    path("notions/learned/combiner/", runs.new, {"family": Family.COMBINER}, name="new_combiner"),
    path("notions/learned/compare/", runs.compare, name="compare"),
    path("notions/learned/<slug:slug>/", runs.run, name="run"),
    path("notions/learned/<slug:slug>/neighbours/", runs.run_neighbours, name="run_neighbours"),
    path("notions/learned/<slug:slug>/delete/", runs.delete, name="delete"),
    path("notions/<slug:slug>/", text_spaces.space, name="space"),
    path("notions/<slug:slug>/pictures/", text_spaces.add_pictures, name="add_pictures"),
    path("notions/<slug:slug>/say/", notions.editor, name="editor"),
    path("notions/<slug:slug>/say/preview/", notions.preview, name="preview"),
    path("notions/<slug:slug>/of/<slug:head>/", notions.notion, name="notion"),
    path(
        "notions/<slug:slug>/of/<slug:head>/neighbours/",
        notions.notion_neighbours,
        name="notion_neighbours",
    ),
    path("notions/<slug:slug>/of/<slug:head>/draw/", notions.draw, name="draw_notion"),
    path(
        "notions/<slug:slug>/of/<slug:head>/<str:kind>.jpg",
        notions.picture,
        name="notion_picture",
    ),
    path("notions/<slug:slug>/of/<slug:head>/delete/", notions.delete, name="delete_notion"),
    path("catalogs/<slug:slug>/words/", text_spaces.words, name="words"),
]
