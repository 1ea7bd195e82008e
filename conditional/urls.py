from django.urls import path

from conditional.alignment import views as alignment_views
from conditional.template_sets import recall_views, views
from conditional.triplets import suggest_views
from conditional.triplets import views as triplets_views
from conditional.uploads import views as uploads_views
from conditional.verification import judging
from conditional.verification import views as panel_views

app_name = "conditional"
_SET = "templates/sets/<slug:slug>"
_TRIPLETS = "templates/triplets/<slug:slug>"
_PANEL = "templates/verifications/<slug:slug>"
_JUDGE = "judge/conditional/<uuid:verification_uid>"
_PICTURE = "<int:number>/<uuid:question_uid>/<str:slot>/<str:size>"
urlpatterns = [
    # readers and admins
    path("templates/", views.sets, name="sets"),
    path("templates/new/", views.new_set, name="new"),
    path("templates/import/", uploads_views.import_file, name="import"),
    path("templates/new/preview", views.preview, name="preview"),
    path("templates/crops/<uuid:template_uid>/<str:slot>/<str:size>", views.crop, name="crop"),
    path(f"{_SET}/", views.template_set, name="set"),
    path(f"{_SET}/export.json", views.export, name="export"),
    path(f"{_SET}/delete", views.delete, name="delete"),
    path(f"{_SET}/score", recall_views.score, name="score"),
    path(f"{_SET}/verify/", panel_views.new_verification, name="new_verification"),
    path(f"{_PANEL}/", panel_views.verification, name="verification"),
    path(f"{_PANEL}/rule", panel_views.rule, name="rule"),
    path(f"{_PANEL}/answers.csv", triplets_views.answers_csv, name="csv"),
    path(f"{_PANEL}/keep", triplets_views.keep, name="keep"),
    path(f"{_PANEL}/<str:verb>", panel_views.move, name="move"),
    path("templates/suggest/", suggest_views.new_suggestion, name="suggest"),
    path("templates/suggest/preview", suggest_views.suggestion_preview, name="suggest_preview"),
    path(f"{_TRIPLETS}/", triplets_views.triplets, name="triplets"),
    path(f"{_TRIPLETS}/delete", triplets_views.delete_triplets, name="delete_triplets"),
    path(f"{_TRIPLETS}/alignment/", alignment_views.alignment, name="alignment"),
    path(f"{_TRIPLETS}/align", alignment_views.align, name="align"),
    path(f"{_TRIPLETS}/alignment/<uuid:uid>/<str:part>.csv", alignment_views.matrix, name="matrix"),
    path(f"{_TRIPLETS}/judge/", panel_views.new_triplet_campaign, name="new_triplet_campaign"),
    # the judge
    path(f"{_JUDGE}/", judging.page, name="judge"),
    path(f"{_JUDGE}/next", judging.questions, name="next"),
    path(f"{_JUDGE}/answers", judging.answers, name="answers"),
    path(f"{_JUDGE}/images/{_PICTURE}", judging.picture, name="picture"),
]
