from django.urls import path

from conditional.alignment import views as alignment_views
from conditional.campaigns.views import new_campaign, results
from conditional.models import TemplateSet, TripletSet
from conditional.template_sets import recall_views, views
from conditional.triplets import suggest_views
from conditional.triplets import views as triplets_views
from conditional.uploads import views as uploads_views

app_name = "conditional"
_SET = "templates/sets/<slug:slug>"
_TRIPLETS = "templates/triplets/<slug:slug>"
_CAMPAIGN = "templates/campaigns/<slug:slug>"
urlpatterns = [
    # readers and admins
    path("templates/", views.sets, name="sets"),
    path("templates/new/", views.new_set, name="new"),
    path("templates/import/", uploads_views.import_file, name="import"),
    path("templates/new/preview", views.preview, name="preview"),
    path("templates/crops/<uuid:template_uid>/<str:slot>/<str:size>", views.crop, name="crop"),
    path(f"{_SET}/", views.template_set, name="set"),
    path(f"{_SET}/export.json", views.export, name="export"),
    path(f"{_SET}/delete", views.delete, {"model": TemplateSet}, name="delete"),
    path(f"{_SET}/score", recall_views.score, name="score"),
    path(f"{_SET}/judge/", new_campaign, {"model": TemplateSet}, name="new_template_campaign"),
    path(f"{_CAMPAIGN}/", results, name="results"),
    path(f"{_CAMPAIGN}/answers.csv", triplets_views.answers_csv, name="csv"),
    path(f"{_CAMPAIGN}/keep", triplets_views.keep, name="keep"),
    path("templates/suggest/", suggest_views.new_suggestion, name="suggest"),
    path("templates/suggest/preview", suggest_views.suggestion_preview, name="suggest_preview"),
    path(f"{_TRIPLETS}/", triplets_views.triplets, name="triplets"),
    path(f"{_TRIPLETS}/delete", views.delete, {"model": TripletSet}, name="delete_triplets"),
    path(f"{_TRIPLETS}/alignment/", alignment_views.alignment, name="alignment"),
    path(f"{_TRIPLETS}/align", alignment_views.align, name="align"),
    path(f"{_TRIPLETS}/alignment/<uuid:uid>/<str:part>.csv", alignment_views.matrix, name="matrix"),
    path(f"{_TRIPLETS}/judge/", new_campaign, {"model": TripletSet}, name="new_triplet_campaign"),
]
