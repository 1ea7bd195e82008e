from django.urls import path

from pooling import views, views_changes, views_new, views_probe, views_top_up

app_name = "pooling"
urlpatterns = [
    path("overview/", views.home, name="home"),
    path("pools/", views.pools, name="pools"),
    path("pools/new/", views_new.new_pool, name="new"),
    path("pools/new/preview/", views_new.preview, name="preview"),
    path("pools/new/probe/", views_probe.start, name="probe"),
    path("pools/new/probe/<uuid:uid>/", views_probe.show, name="probed"),
    path("pools/new/attributes/", views_new.attributes, name="attributes"),
    path("pools/<slug:slug>/", views.pool, name="pool"),
    path("pools/<slug:slug>/progress/", views.progress, name="progress"),
    path("pools/<slug:slug>/campaign/", views_new.new_campaign, name="new_campaign"),
    path("pools/<slug:slug>/top-up/", views_top_up.top_up, name="top_up"),
    path("pools/<slug:slug>/settle/", views_top_up.settle, name="settle"),
    path("pools/<slug:slug>/start/", views_changes.start, name="start"),
    path("pools/<slug:slug>/cancel/", views_changes.cancel, name="cancel"),
    path("pools/<slug:slug>/delete/", views_changes.delete, name="delete"),
    path("pools/<slug:slug>/models/<int:position>/retry/", views_changes.retry, name="retry"),
    path("pools/<slug:slug>/models/<int:position>/stop/", views_changes.stop, name="stop"),
    path(
        "pools/<slug:slug>/models/<int:position>/withdraw/", views_changes.withdraw, name="withdraw"
    ),
]
