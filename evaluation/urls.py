"""Addresses of results."""

from django.urls import path

from evaluation import views

app_name = "evaluation"
urlpatterns = [
    path("results/", views.home, name="home"),
    path("results/<slug:slug>/", views.results, name="results"),
    path("results/<slug:slug>/evaluate/", views.evaluate, name="evaluate"),
    path("results/<slug:slug>/labels/<slug:name>/", views.export, name="export"),
]
