from django.urls import path

from catalog import views
from catalog.curation import views as curation_views
from catalog.images import views as images_views
from catalog.importing import views as importing_views

app_name = "catalog"
urlpatterns = [
    path("catalogs/", views.home, name="home"),
    path("catalogs/new/", views.new, name="new"),
    path("catalogs/new/name/", views.name, name="name"),
    path("catalogs/<slug:slug>/", views.catalog, name="catalog"),
    path("catalogs/<slug:slug>/import/", views.fill, name="fill"),
    path("catalogs/<slug:slug>/import/check/", importing_views.check, name="check"),
    path("catalogs/<slug:slug>/report/", views.report, name="report"),
    path("catalogs/<slug:slug>/report.csv", views.report_file, name="report_file"),
    path("catalogs/<slug:slug>/delete/", views.delete, name="delete"),
    path("catalogs/<slug:slug>/duplicates/", images_views.duplicates, name="duplicates"),
    path("catalogs/<slug:slug>/product/", images_views.product, name="product"),
    path("catalogs/<slug:slug>/images/<uuid:uid>/", images_views.image, name="image"),
    path(
        "catalogs/<slug:slug>/images/<uuid:uid>/leave-out/",
        curation_views.leave_out,
        name="leave_out",
    ),
    path(
        "catalogs/<slug:slug>/images/<uuid:uid>/take-back/",
        curation_views.take_back,
        name="take_back",
    ),
    path(
        "catalogs/<slug:slug>/images/<uuid:uid>/same-product/<uuid:other>/",
        curation_views.join,
        name="join",
    ),
    path("catalogs/<slug:slug>/same-product/<int:pk>/undo/", curation_views.part, name="part"),
    path(
        "catalogs/<slug:slug>/images/<uuid:uid>/neighbours/<int:set_id>/",
        images_views.neighbours,
        name="neighbours",
    ),
    path("images/<uuid:uid>/<str:size>", images_views.picture, name="picture"),
]
