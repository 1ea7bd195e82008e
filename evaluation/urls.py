"""Addresses of results."""

from django.urls import path

from evaluation.below_pool import views as below_pool_views
from evaluation.bias_report import views as bias_report_views
from evaluation.classes import views as classes_views
from evaluation.model_pages import views as model_views
from evaluation.plan import views as plan_views
from evaluation.results import views
from evaluation.rounds import views as rounds_views
from evaluation.runs import views as runs_views
from evaluation.study import views as study_views
from evaluation.without_judge import views as without_judge_views

app_name = "evaluation"
urlpatterns = [
    path("catalogs/<slug:slug>/classes/", classes_views.classes, name="classes"),
    path("plan/", plan_views.plan, name="plan"),
    path("plan/<uuid:uid>/", plan_views.planned, name="planned"),
    path("plan/<uuid:uid>/<int:number>/", plan_views.make_planned, name="make_planned"),
    path("results/", views.home, name="home"),
    path("results/<slug:slug>/", views.results, name="results"),
    path(
        "results/<slug:slug>/leaderboard.<slug:ending>",
        views.leaderboard_file,
        name="leaderboard_file",
    ),
    path("results/<slug:slug>/evaluate/", views.evaluate, name="evaluate"),
    path("results/<slug:slug>/labels/<slug:name>/", views.export, name="export"),
    path("results/<slug:slug>/models/<slug:key>/", model_views.model, name="model"),
    path("results/<slug:slug>/compare/", model_views.compare, name="compare"),
    path("results/<slug:slug>/bias/", bias_report_views.bias, name="bias"),
    path("results/<slug:slug>/below/", below_pool_views.below, name="below"),
    path("pools/<slug:slug>/rounds/", rounds_views.new_rounds, name="new_rounds"),
    path("results/<slug:slug>/rounds/", rounds_views.rounds, name="rounds"),
    path(
        "results/<slug:slug>/rounds/<int:number>/open/", rounds_views.open_next, name="open_round"
    ),
    path("results/<slug:slug>/rounds/look/", rounds_views.look, name="look"),
    path("results/<slug:slug>/rounds/stop/", rounds_views.stop, name="stop_rounds"),
    path("results/<slug:slug>/study/", study_views.study, name="study"),
    path("results/<slug:slug>/without/<int:number>/", without_judge_views.without, name="without"),
    path("results/<slug:slug>/runs/", runs_views.runs, name="runs"),
    path("results/<slug:slug>/runs/<uuid:uid>/delete/", runs_views.delete, name="delete_run"),
]
