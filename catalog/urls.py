from django.urls import path

from catalog import image_views, views

app_name = "catalog"
urlpatterns = [
    path("catalogs/", views.home, name="home"),
    path("catalogs/new/", views.new, name="new"),
    path("catalogs/<slug:slug>/", views.catalog, name="catalog"),
    path("catalogs/<slug:slug>/import/", views.fill, name="fill"),
    path("catalogs/<slug:slug>/report/", views.report, name="report"),
    path("catalogs/<slug:slug>/report.csv", views.report_file, name="report_file"),
    path("catalogs/<slug:slug>/delete/", views.delete, name="delete"),
    path("catalogs/<slug:slug>/duplicates/", image_views.duplicates, name="duplicates"),
    path("catalogs/<slug:slug>/product/", image_views.product, name="product"),
    path("catalogs/<slug:slug>/images/<uuid:uid>/", image_views.image, name="image"),
    path(
        "catalogs/<slug:slug>/images/<uuid:uid>/neighbours/<int:set_id>/",
        image_views.neighbours,
        name="neighbours",
    ),
    path("images/<uuid:uid>/<str:size>", image_views.picture, name="picture"),
]
