from django.urls import path

from conditional import (
    judging,
    views,
    views_alignment,
    views_closer,
    views_import,
    views_recall,
    views_suggest,
    views_verify,
)

app_name = "conditional"
_PICTURE = "<int:number>/<uuid:question_uid>/<str:slot>/<str:size>"
urlpatterns = [
    # readers and admins
    path("templates/", views.sets, name="sets"),
    path("templates/new/", views.new_set, name="new"),
    path("templates/import/", views_import.import_file, name="import"),
    path("templates/new/preview", views.preview, name="preview"),
    path("templates/crops/<uuid:template_uid>/<str:slot>/<str:size>", views.crop, name="crop"),
    path("templates/sets/<slug:slug>/", views.template_set, name="set"),
    path("templates/sets/<slug:slug>/export.json", views.export, name="export"),
    path("templates/sets/<slug:slug>/delete", views.delete, name="delete"),
    path("templates/sets/<slug:slug>/score", views_recall.score, name="score"),
    path(
        "templates/sets/<slug:slug>/verify/",
        views_verify.new_verification,
        name="new_verification",
    ),
    path("templates/verifications/<slug:slug>/", views_verify.verification, name="verification"),
    path("templates/verifications/<slug:slug>/rule", views_verify.rule, name="rule"),
    path("templates/verifications/<slug:slug>/answers.csv", views_closer.answers_csv, name="csv"),
    path("templates/verifications/<slug:slug>/keep", views_closer.keep, name="keep"),
    path("templates/verifications/<slug:slug>/<str:verb>", views_verify.move, name="move"),
    path("templates/suggest/", views_suggest.new_suggestion, name="suggest"),
    path("templates/suggest/preview", views_suggest.suggestion_preview, name="suggest_preview"),
    path("templates/triplets/<slug:slug>/", views_closer.triplets, name="triplets"),
    path(
        "templates/triplets/<slug:slug>/delete",
        views_closer.delete_triplets,
        name="delete_triplets",
    ),
    path("templates/triplets/<slug:slug>/alignment/", views_alignment.alignment, name="alignment"),
    path("templates/triplets/<slug:slug>/align", views_alignment.align, name="align"),
    path(
        "templates/triplets/<slug:slug>/alignment/<uuid:uid>/<str:part>.csv",
        views_alignment.matrix,
        name="matrix",
    ),
    path(
        "templates/triplets/<slug:slug>/judge/",
        views_verify.new_triplet_campaign,
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
