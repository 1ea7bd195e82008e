"""Addresses of results."""

from django.urls import path

from evaluation import views, views_bias, views_models, views_runs, views_samples

app_name = "evaluation"
urlpatterns = [
    path("results/", views.home, name="home"),
    path("results/<slug:slug>/", views.results, name="results"),
    path("results/<slug:slug>/evaluate/", views.evaluate, name="evaluate"),
    path("results/<slug:slug>/labels/<slug:name>/", views.export, name="export"),
    path("results/<slug:slug>/models/<slug:key>/", views_models.model, name="model"),
    path("results/<slug:slug>/compare/", views_models.compare, name="compare"),
    path("results/<slug:slug>/bias/", views_bias.bias, name="bias"),
    path("results/<slug:slug>/below/", views_samples.below, name="below"),
    path("results/<slug:slug>/runs/", views_runs.runs, name="runs"),
    path("results/<slug:slug>/runs/<uuid:uid>/delete/", views_runs.delete, name="delete_run"),
]
