from django.urls import path

from learning.notions import views as notions
from learning.text_spaces import views as text_spaces

app_name = "learning"
urlpatterns = [
    path("notions/", text_spaces.home, name="home"),
    path("notions/new/", text_spaces.new, name="new"),
    path("notions/<slug:slug>/", text_spaces.space, name="space"),
    path("notions/<slug:slug>/delete/", text_spaces.delete, name="delete"),
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
