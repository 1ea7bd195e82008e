from django.urls import path

from notices import views

app_name = "notices"
urlpatterns = [
    path("notices/", views.notices, name="notices"),
    path("notices/mail/", views.mail, name="mail"),
    path("notices/webhooks/", views.add_webhook, name="add_webhook"),
    path("notices/webhooks/<int:pk>/remove/", views.remove_webhook, name="remove_webhook"),
]
