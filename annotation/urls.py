from django.urls import path

from annotation import judging

app_name = "annotation"
urlpatterns = [
    path("judge/", judging.home, name="home"),
    path("judge/preferences", judging.preferences, name="preferences"),
    path("judge/<uuid:campaign_uid>/", judging.judge_page, name="judge"),
    path("judge/<uuid:campaign_uid>/next", judging.questions, name="next"),
    path("judge/<uuid:campaign_uid>/answers", judging.answers, name="answers"),
    path("judge/<uuid:campaign_uid>/recent", judging.recent, name="recent"),
    path("judge/<uuid:campaign_uid>/guidelines", judging.guidelines, name="guidelines"),
    path(
        "judge/<uuid:campaign_uid>/images/<uuid:image_uid>/<str:size>",
        judging.image,
        name="image",
    ),
]
