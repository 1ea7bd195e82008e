"""Admins invite, change and close accounts; nobody gains rights by the side door."""

from __future__ import annotations

import pytest
from django.core import mail
from django.core.exceptions import PermissionDenied

from accounts import services
from accounts.models import Role, User
from audit.actions import Action
from audit.models import Entry
from tests.clients import PASSWORD

INVITATION = {"username": "grace", "email": "grace@example.org", "role": "annotator"}


@pytest.fixture
def admin(make_person):
    return make_person(Role.ADMIN)


@pytest.fixture
def superuser(make_person):
    return make_person(Role.ADMIN, is_superuser=True)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER])
def test_only_admins_see_people(as_person, make_person, role):
    client = as_person(make_person(role))
    other = make_person()
    for path in ("/people/", "/people/new/", f"/people/{other.pk}/"):
        assert client.get(path).status_code == 403
    for path in ("role", "active", "link"):
        assert client.post(f"/people/{other.pk}/{path}/", {"role": "admin"}).status_code == 403


def test_an_invited_person_chooses_a_password_once(as_person, admin, stranger):
    browser = as_person(admin)
    page = browser.post("/people/new/", INVITATION, follow=True)
    link = page.context["link"]
    assert link.startswith("http://testserver/accounts/password/reset/key/")
    again = browser.get(page.request["PATH_INFO"])
    assert again.context["link"] == "", "the link is shown once"

    path = link.removeprefix("http://testserver")
    form_page = stranger.get(path, follow=True)
    chosen = {"password1": PASSWORD, "password2": PASSWORD}
    first_page = stranger.post(form_page.request["PATH_INFO"], chosen, follow=True)
    assert "Your password is saved." in first_page.content.decode()
    assert stranger.get("/profile/").status_code == 200, "they are signed in"
    assert User.objects.get(username="grace").check_password(PASSWORD)

    stranger.logout()
    assert "does not work any more" in stranger.get(path, follow=True).content.decode()


def test_the_link_is_mailed_when_asked(as_person, admin):
    page = as_person(admin).post("/people/new/", INVITATION | {"sends_mail": "on"}, follow=True)
    (message,) = mail.outbox
    assert message.to == ["grace@example.org"]
    assert page.context["link"] in message.body
    assert "grace" in message.body


def test_a_mail_needs_an_address(as_person, admin):
    form = INVITATION | {"email": "", "sends_mail": "on"}
    page = as_person(admin).post("/people/new/", form)
    assert page.context["form"].errors["email"] == ["Give an address, or untick the mail."]
    assert not User.objects.filter(username="grace").exists()


def test_an_address_belongs_to_one_account(as_person, admin, make_person):
    other = make_person()
    page = as_person(admin).post("/people/new/", INVITATION | {"email": other.email.upper()})
    assert "Another account" in page.context["form"].errors["email"][0]


def test_admins_do_not_make_admins(as_person, admin, make_person):
    browser, person = as_person(admin), make_person()
    assert browser.post("/people/new/", INVITATION | {"role": "admin"}).status_code == 200
    assert not User.objects.filter(username="grace").exists()
    assert browser.post(f"/people/{person.pk}/role/", {"role": "admin"}).status_code == 403
    with pytest.raises(PermissionDenied):
        services.change_role(actor=admin, person=person, role=Role.ADMIN)
    person.refresh_from_db()
    assert (person.role, person.is_staff) == (Role.ANNOTATOR, False)


def test_an_invitation_takes_no_other_field(as_person, admin):
    forged = INVITATION | {"is_superuser": "1", "is_staff": "1", "is_active": "0", "id": "1"}
    as_person(admin).post("/people/new/", forged)
    grace = User.objects.get(username="grace")
    assert (grace.is_superuser, grace.is_staff, grace.is_active) == (False, False, True)


def test_superusers_make_and_unmake_admins(superuser, make_person):
    person = make_person()
    services.change_role(actor=superuser, person=person, role=Role.ADMIN)
    person.refresh_from_db()
    assert (person.role, person.is_staff) == (Role.ADMIN, True)
    services.change_role(actor=superuser, person=person, role=Role.RESEARCHER)
    person.refresh_from_db()
    assert (person.role, person.is_staff) == (Role.RESEARCHER, False)


@pytest.mark.parametrize("path", ["role", "active", "link", ""])
def test_admins_change_neither_themselves_nor_other_admins(as_person, admin, make_person, path):
    browser = as_person(admin)
    for person in (admin, make_person(Role.ADMIN), make_person(is_superuser=True)):
        tail = f"{path}/" if path else ""
        form = {"role": "annotator", "is_active": "0", "email": "x@example.org"}
        assert browser.post(f"/people/{person.pk}/{tail}", form).status_code == 403


def test_superusers_do_not_lock_themselves_out(as_person, superuser):
    browser = as_person(superuser)
    assert browser.post(f"/people/{superuser.pk}/active/", {"is_active": "0"}).status_code == 403
    assert browser.post(f"/people/{superuser.pk}/role/", {"role": "annotator"}).status_code == 403


def test_a_closed_account_is_signed_out_at_once(as_person, admin, make_person):
    person = make_person()
    theirs = as_person(person)
    assert theirs.get("/profile/").status_code == 200
    as_person(admin).post(f"/people/{person.pk}/active/", {"is_active": "0"})
    assert theirs.get("/profile/").status_code == 302
    as_person(admin).post(f"/people/{person.pk}/active/", {"is_active": "1"})
    person.refresh_from_db()
    assert person.is_active


def test_a_closed_account_gets_no_link(as_person, admin, make_person):
    person = make_person(is_active=False)
    page = as_person(admin).post(f"/people/{person.pk}/link/", follow=True)
    assert "reactivate the account first" in page.content.decode()
    assert page.context["link"] == ""


def test_links_to_an_old_address_stop_working(admin, make_person, stranger):
    person = make_person()
    link = services.password_link(actor=admin, person=person, site="http://testserver")
    services.change_details(
        actor=admin, person=person, first_name="", last_name="", email="new@example.org"
    )
    page = stranger.get(link.removeprefix("http://testserver"), follow=True)
    assert "does not work any more" in page.content.decode()


def test_every_change_is_in_the_audit_log(as_person, superuser):
    browser = as_person(superuser)
    page = browser.post("/people/new/", INVITATION, follow=True)
    pk = page.context["person"].pk
    browser.post(f"/people/{pk}/role/", {"role": "researcher"})
    browser.post(f"/people/{pk}/", {"first_name": "Grace", "email": "g@example.org"})
    browser.post(f"/people/{pk}/active/", {"is_active": "0"})
    entries = Entry.objects.filter(subject_kind="user", subject_id=str(pk)).order_by("pk")
    assert [(entry.action, entry.details) for entry in entries] == [
        (Action.PERSON_INVITED, {"role": "annotator"}),
        (Action.PASSWORD_LINK_MADE, {}),
        (Action.ROLE_CHANGED, {"before": "annotator", "after": "researcher"}),
        (Action.PERSON_CHANGED, {"changed": ["first name", "email"]}),
        (Action.ACCOUNT_CLOSED, {}),
    ]
    assert {entry.actor_id for entry in entries} == {superuser.pk}
    page = browser.get(f"/people/{pk}/").content.decode()
    assert "Role changed" in page
    assert "first name, email" in page


def test_the_list_is_found_by_name_role_and_state(as_person, admin, make_person):
    wanted = make_person(Role.RESEARCHER, first_name="Noether")
    make_person(Role.RESEARCHER)
    closed = make_person(is_active=False)
    browser = as_person(admin)
    found = browser.get("/people/", {"words": "noeth", "role": "researcher"}).context["page"]
    assert list(found) == [wanted]
    assert closed not in browser.get("/people/").context["page"]
    assert closed in browser.get("/people/", {"shown": "inactive"}).context["page"]


@pytest.mark.parametrize(
    "name", ["password", "owner__password__startswith", "order_by", "role__in"]
)
def test_unknown_parameters_filter_nothing(as_person, admin, make_person, name):
    n_people = len(as_person(admin).get("/people/").context["page"])
    assert len(as_person(admin).get("/people/", {name: "x"}).context["page"]) == n_people


def test_people_change_their_own_name_and_nothing_else(as_person, make_person):
    person = make_person()
    form = {"first_name": "Emmy", "last_name": "N", "role": "admin", "email": "x@example.org"}
    as_person(person).post("/profile/", form | {"is_superuser": "1", "username": "root"})
    fresh = User.objects.get(pk=person.pk)
    assert fresh.first_name == "Emmy"
    assert (fresh.role, fresh.email, fresh.username, fresh.is_superuser) == (
        Role.ANNOTATOR,
        person.email,
        person.username,
        False,
    )


def test_addresses_are_not_changed_by_their_owners(as_person, make_person):
    browser = as_person(make_person())
    answer = browser.post("/accounts/email/", {"action_add": "", "email": "evil@example.org"})
    assert answer.url == "/profile/"


def test_staff_look_at_the_back_office_but_change_nothing(as_person, admin, make_person):
    browser, person = as_person(admin), make_person()
    assert browser.get("/admin/").status_code == 200
    assert browser.get("/admin/accounts/user/").status_code == 200
    path = f"/admin/accounts/user/{person.pk}/change/"
    assert browser.get(path).status_code == 200
    assert browser.post(path, {"is_superuser": "on"}).status_code == 403
    mine = f"/admin/accounts/user/{admin.pk}/change/"
    assert browser.post(mine, {"is_superuser": "on"}).status_code == 403
    assert browser.get("/admin/accounts/user/add/").status_code == 403
    for hidden in ("auth/group", "mfa/authenticator", "account/emailaddress"):
        assert browser.get(f"/admin/{hidden}/").status_code == 404


def test_superusers_do_not_raise_themselves_in_the_back_office(as_person, superuser):
    path = f"/admin/accounts/user/{superuser.pk}/change/"
    assert as_person(superuser).post(path, {"is_staff": "on"}).status_code == 403


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER])
def test_the_back_office_is_closed_to_others(as_person, make_person, role):
    assert as_person(make_person(role)).get("/admin/accounts/user/").status_code == 302
    flagged = make_person(role, is_staff=True)
    assert as_person(flagged).get("/admin/accounts/user/").status_code == 403


def test_many_are_invited_each_line_by_itself(as_person, admin):
    User.objects.create_user("bo", email="taken@example.org")
    lines = [
        "Ada Lovelace <ada@example.org>",
        "",
        "cy, cy@example.org",
        "bo@elsewhere.org",
        "dee",
        "TAKEN@example.org",
        "no address@",
        "a, b, c",
        "bo",
        "<script>alert(1)</script>",
        "cy@example.org",
    ]
    asked = {"people": "\n".join(lines), "role": "annotator", "sends_mail": "on"}
    page = as_person(admin).post("/people/new/several/", asked)
    invited = [outcome.person.username for outcome in page.context["invited"]]
    assert invited == ["ada", "cy", "bo-2", "dee"]
    ada = User.objects.get(username="ada")
    assert (ada.first_name, ada.last_name, ada.role) == ("Ada", "Lovelace", Role.ANNOTATOR)
    assert [message.to for message in mail.outbox] == [
        ["ada@example.org"], ["cy@example.org"], ["bo@elsewhere.org"],
    ]  # fmt: skip
    refused = {outcome.line.number: outcome.problem for outcome in page.context["refused"]}
    assert list(refused) == [6, 7, 8, 9, 10, 11]
    assert "Another account has this email address." in refused[6]
    assert "<script>alert" not in page.content.decode()
    assert page.context["form"]["people"].value().splitlines() == lines[5:]
    assert Entry.objects.filter(action=Action.PERSON_INVITED).count() == 4

    as_admin = asked | {"people": "eve@example.org", "role": "admin"}
    assert as_person(admin).post("/people/new/several/", as_admin).context["form"].errors
    many = asked | {"people": "\n".join(f"p{n}" for n in range(201))}
    assert "at most 200" in as_person(admin).post("/people/new/several/", many).content.decode()
    assert not User.objects.filter(username__in=["eve", "p0"]).exists()


def test_a_mail_server_that_is_away_is_asked_once_for_a_list(as_person, admin, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    asked = {"people": "ada@example.org\nbo@example.org", "role": "annotator", "sends_mail": "on"}
    first, second = as_person(admin).post("/people/new/several/", asked).context["invited"]
    assert "No mail could be sent" in first.problem
    assert (second.problem, bool(second.link)) == ("", True)
