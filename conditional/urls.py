from django.urls import path

from conditional.alignment import views as alignment_views
from conditional.template_sets import recall_views, views
from conditional.triplets import suggest_views
from conditional.triplets import views as triplets_views
from conditional.uploads import views as uploads_views
from conditional.verification import judging
from conditional.verification import views as verification_views

app_name = "conditional"
_PICTURE = "<int:number>/<uuid:question_uid>/<str:slot>/<str:size>"
urlpatterns = [
    # readers and admins
    path("templates/", views.sets, name="sets"),
    path("templates/new/", views.new_set, name="new"),
    path("templates/import/", uploads_views.import_file, name="import"),
    path("templates/new/preview", views.preview, name="preview"),
    path("templates/crops/<uuid:template_uid>/<str:slot>/<str:size>", views.crop, name="crop"),
    path("templates/sets/<slug:slug>/", views.template_set, name="set"),
    path("templates/sets/<slug:slug>/export.json", views.export, name="export"),
    path("templates/sets/<slug:slug>/delete", views.delete, name="delete"),
    path("templates/sets/<slug:slug>/score", recall_views.score, name="score"),
    path(
        "templates/sets/<slug:slug>/verify/",
        verification_views.new_verification,
        name="new_verification",
    ),
    path(
        "templates/verifications/<slug:slug>/", verification_views.verification, name="verification"
    ),
    path("templates/verifications/<slug:slug>/rule", verification_views.rule, name="rule"),
    path("templates/verifications/<slug:slug>/answers.csv", triplets_views.answers_csv, name="csv"),
    path("templates/verifications/<slug:slug>/keep", triplets_views.keep, name="keep"),
    path("templates/verifications/<slug:slug>/<str:verb>", verification_views.move, name="move"),
    path("templates/suggest/", suggest_views.new_suggestion, name="suggest"),
    path("templates/suggest/preview", suggest_views.suggestion_preview, name="suggest_preview"),
    path("templates/triplets/<slug:slug>/", triplets_views.triplets, name="triplets"),
    path(
        "templates/triplets/<slug:slug>/delete",
        triplets_views.delete_triplets,
        name="delete_triplets",
    ),
    path("templates/triplets/<slug:slug>/alignment/", alignment_views.alignment, name="alignment"),
    path("templates/triplets/<slug:slug>/align", alignment_views.align, name="align"),
    path(
        "templates/triplets/<slug:slug>/alignment/<uuid:uid>/<str:part>.csv",
        alignment_views.matrix,
        name="matrix",
    ),
    path(
        "templates/triplets/<slug:slug>/judge/",
        verification_views.new_triplet_campaign,
        name="new_triplet_campaign",
    ),
    # the judge
    path("judge/conditional/<uuid:verification_uid>/", judging.page, name="judge"),
    path("judge/conditional/<uuid:verification_uid>/next", judging.questions, name="next"),
    path("judge/conditional/<uuid:verification_uid>/answers", judging.answers, name="answers"),
    path(
        f"judge/conditional/<uuid:verification_uid>/images/{_PICTURE}",
        judging.picture,
        name="picture",
    ),
]
