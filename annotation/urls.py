from django.urls import path

from annotation.views import campaign_changes as changes
from annotation.views import campaigns as pages
from annotation.views import comments, judging, panel_invitations, review

app_name = "annotation"
urlpatterns = [
    # the judge; first what each key press asks for, as addresses are tried in turn
    path("judge/<uuid:campaign_uid>/answers", judging.answers, name="answers"),
    path("judge/<uuid:campaign_uid>/next", judging.questions, name="next"),
    path("judge/", judging.home, name="home"),
    path("judge/inbox/", comments.inbox, name="inbox"),
    path("judge/preferences", judging.preferences, name="preferences"),
    path("judge/<uuid:campaign_uid>/", judging.judge_page, name="judge"),
    path("judge/<uuid:campaign_uid>/recent", judging.recent, name="recent"),
    path("judge/<uuid:campaign_uid>/stops", judging.stops, name="stops"),
    path("judge/<uuid:campaign_uid>/guidelines", judging.guidelines, name="guidelines"),
    path("judge/<uuid:campaign_uid>/guidelines/read", comments.read, name="read"),
    path("judge/<uuid:campaign_uid>/comments", comments.comments, name="comments"),
    path("judge/<uuid:campaign_uid>/replies", comments.replies, name="replies"),
    path("judge/<uuid:campaign_uid>/replies/seen", comments.replies_seen, name="replies_seen"),
    path(
        "judge/<uuid:campaign_uid>/images/<slug:key>/<str:size>",
        judging.image,
        name="image",
    ),
    path(
        "judge/<uuid:campaign_uid>/choices/<slug:question>/<slug:key>/<str:size>",
        judging.choice_image,
        name="choice_image",
    ),
    # the admin
    path("campaigns/", pages.campaigns, name="campaigns"),
    path("campaigns/<slug:slug>/", pages.campaign, name="campaign"),
    path("campaigns/<slug:slug>/open/", pages.opening, name="opening"),
    path("campaigns/<slug:slug>/panel/", pages.panel, name="panel"),
    path("campaigns/<slug:slug>/guidelines/", pages.guidelines, name="edit_guidelines"),
    path("campaigns/<slug:slug>/gold/", pages.gold, name="gold"),
    path("campaigns/<slug:slug>/questions/", comments.questions, name="questions"),
    path("campaigns/<slug:slug>/questions/<uuid:comment>/", comments.question, name="question"),
    path(
        "campaigns/<slug:slug>/questions/<uuid:comment>/pictures/<int:slot>/<str:size>",
        comments.question_picture,
        name="question_picture",
    ),
    path(
        "campaigns/<slug:slug>/guidelines/changes",
        comments.guideline_changes,
        name="guideline_changes",
    ),
    path("campaigns/<slug:slug>/answers/", review.answers, name="answers_given"),
    path("campaigns/<slug:slug>/answers/change", review.change_answers, name="change_answers"),
    path("campaigns/<slug:slug>/pairs/<uuid:uid>/", review.pair, name="pair"),
    path("campaigns/<slug:slug>/pairs/<uuid:uid>/gold", review.pair_to_gold, name="pair_to_gold"),
    path("campaigns/<slug:slug>/quality/", pages.quality, name="quality"),
    path("campaigns/<slug:slug>/agreement/", pages.agreement, name="agreement"),
    path("campaigns/<slug:slug>/adjudication/", pages.adjudication, name="adjudication"),
    path("campaigns/<slug:slug>/settings/", pages.settings, name="settings"),
    path("campaigns/<slug:slug>/state/<str:verb>", changes.move, name="move"),
    path("campaigns/<slug:slug>/settings/save", changes.settings, name="save_settings"),
    path(
        "campaigns/<slug:slug>/panel/invite/",
        panel_invitations.invite_to_panel,
        name="invite_to_panel",
    ),
    path("campaigns/<slug:slug>/panel/add", panel_invitations.add_to_panel, name="add_to_panel"),
    path("campaigns/<slug:slug>/panel/<int:number>/<str:verb>", changes.member, name="member"),
    path("campaigns/<slug:slug>/guidelines/preview", changes.preview, name="preview"),
    path("campaigns/<slug:slug>/guidelines/save", changes.guidelines, name="save_guidelines"),
    path("campaigns/<slug:slug>/gold/file", changes.gold_from_file, name="gold_from_file"),
    path(
        "campaigns/<slug:slug>/gold/campaign",
        changes.gold_from_campaign,
        name="gold_from_campaign",
    ),
    path("campaigns/<slug:slug>/gold/<uuid:uid>/remove", changes.drop_gold, name="drop_gold"),
    path("campaigns/<slug:slug>/adjudication/rule", changes.rule, name="rule"),
    path(
        "campaigns/<slug:slug>/adjudication/<uuid:uid>/withdraw",
        changes.withdraw,
        name="withdraw",
    ),
    path(
        "campaigns/<slug:slug>/adjudication/<uuid:uid>/gold",
        changes.ruling_to_gold,
        name="ruling_to_gold",
    ),
    path("campaigns/<slug:slug>/agreement/compare", changes.compare, name="compare"),
]
