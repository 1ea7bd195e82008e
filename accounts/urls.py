"""Addresses of the front door, the own profile, and the people an admin looks after."""

from django.urls import include, path, re_path
from django.views.generic import RedirectView

from accounts import languages, views
from accounts.first_admin.views import first_admin
from accounts.invitations.views import invite_many
from accounts.sessions import views as sessions_views
from accounts.tokens import views as tokens_views

pages = [
    path("profile/", views.profile, name="profile"),
    path("language/", languages.choose, name="language"),
    path("profile/sessions/", sessions_views.sessions, name="sessions"),
    path("profile/sessions/<int:pk>/end/", sessions_views.end, name="end_session"),
    path("profile/sessions/end/", sessions_views.end_all, name="end_sessions"),
    path("profile/tokens/", tokens_views.tokens, name="tokens"),
    path("profile/tokens/new/", tokens_views.new, name="new_token"),
    path("profile/tokens/<uuid:uid>/revoke/", tokens_views.revoke, name="revoke_token"),
    path("first-admin/<str:secret>/", first_admin, name="first_admin"),
    path("people/", views.people, name="people"),
    path("people/new/", views.invite, name="invite"),
    path("people/new/several/", invite_many, name="invite_many"),
    path("people/<int:pk>/", views.person, name="person"),
    path("people/<int:pk>/role/", views.role, name="role"),
    path("people/<int:pk>/active/", views.active, name="active"),
    path("people/<int:pk>/link/", views.link, name="link"),
]
urlpatterns = [
    path("", views.home, name="home"),
    path("", include((pages, "accounts"))),
    # before allauth's own: nobody has an address to confirm
    re_path("^accounts/confirm-email/", RedirectView.as_view(pattern_name="accounts:profile")),
]
