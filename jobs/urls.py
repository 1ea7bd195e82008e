from django.urls import path

from jobs import views

app_name = "jobs"
urlpatterns = [
    path("jobs/", views.jobs, name="jobs"),
    path("jobs/<uuid:uid>/", views.job, name="job"),
    path("jobs/<uuid:uid>/cancel/", views.cancel, name="cancel"),
    path("jobs/<uuid:uid>/retry/", views.retry, name="retry"),
    path("jobs/<uuid:uid>/dismiss/", views.dismiss, name="dismiss"),
]
