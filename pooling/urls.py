from django.urls import path

from pooling.campaign import views as campaign_views
from pooling.maps import views as map_views
from pooling.new_pool import views as new_views
from pooling.pools import change_views, views
from pooling.probe import views as probe_views
from pooling.top_up import views as top_up_views

app_name = "pooling"
urlpatterns = [
    path("pools/", views.pools, name="pools"),
    path("pools/new/", new_views.new_pool, name="new"),
    path("pools/new/preview/", new_views.preview, name="preview"),
    path("pools/new/probe/", probe_views.start, name="probe"),
    path("pools/new/probe/<uuid:uid>/", probe_views.show, name="probed"),
    path("pools/new/models/", new_views.models, name="models"),
    path("pools/new/attributes/", new_views.attributes, name="attributes"),
    path("pools/new/name/", new_views.name, name="name"),
    path("pools/new/campaign-name/", campaign_views.name, name="campaign_name"),
    path("catalogs/<slug:slug>/map/", map_views.show, name="map"),
    path("catalogs/<slug:slug>/map/draw/<int:set_id>/", map_views.draw, name="draw_map"),
    path("catalogs/<slug:slug>/map/<int:pk>/points/", map_views.points, name="map_points"),
    path("catalogs/<slug:slug>/map/<int:pk>/pairs/<slug:pool>/", map_views.pairs, name="map_pairs"),
    path("pools/<slug:slug>/", views.pool, name="pool"),
    path("pools/<slug:slug>/figures/", views.figures, name="figures"),
    path("pools/<slug:slug>/proposals/", views.proposals, name="proposals"),
    path("pools/<slug:slug>/history/", views.history, name="history"),
    path("pools/<slug:slug>/progress/", views.progress, name="progress"),
    path("pools/<slug:slug>/campaign/", campaign_views.new_campaign, name="new_campaign"),
    path("pools/<slug:slug>/top-up/", top_up_views.top_up, name="top_up"),
    path("pools/<slug:slug>/settle/", top_up_views.settle, name="settle"),
    path("pools/<slug:slug>/start/", change_views.start, name="start"),
    path("pools/<slug:slug>/cancel/", change_views.cancel, name="cancel"),
    path("pools/<slug:slug>/delete/", change_views.delete, name="delete"),
    path("pools/<slug:slug>/models/<int:position>/retry/", change_views.retry, name="retry"),
    path("pools/<slug:slug>/models/<int:position>/stop/", change_views.stop, name="stop"),
    path(
        "pools/<slug:slug>/models/<int:position>/withdraw/", change_views.withdraw, name="withdraw"
    ),
]
