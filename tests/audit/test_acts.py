"""Every address that changes something is on the record, or says here why not."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.usersessions.models import UserSession
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.first_admin.services import make_admin
from accounts.models import AccessToken, Role, Scope, User
from accounts.tokens.services import create_token
from annotation.models import Campaign, Comment, Question
from annotation.queries.labels import labels
from annotation.services import create_campaign, open_campaign
from audit.models import Entry
from catalog.models import Catalog, EmbeddingSet, ProductMerge
from conditional.models import TripletQuestion, TripletSet
from evaluation.models import RoundPlan, Run
from evaluation.results.inputs import label_digest
from jobs.models import Job
from jobs.services import enqueue
from learning.models import TextSpace
from notices.models import Channel
from pooling.models import Pool, PoolSource
from releases.models import Release, Submission
from tests.clients import PASSWORD, Browser, signed_in
from tests.conditional.cases import built_set, make_catalog, say, subjects_of
from tests.learning.spaces import stored_space
from tests.worlds import World, answer_all, build_world, same_colour

ASKS = "computes what a form would give and stores nothing"
EVENTS = "answers of judges have an event log of their own, which nothing changes either"
ENQUEUES = "starts a job: `jobs.services.enqueue` records each, and is tested below"
SHOWS = "shows the same page whatever the method"
UNUSED = "not offered here, or answers without changing anything"
UNRECORDED = {
    "pooling:preview": ASKS,
    "pooling:attributes": ASKS,
    "annotation:preview": ASKS,
    "conditional:preview": ASKS,
    "conditional:suggest_preview": ASKS,
    "annotation:answers": EVENTS,
    "annotation:comments": EVENTS,
    "annotation:replies_seen": "a judge has seen a reply, which the comment's page says",
    "annotation:guideline_changes": ASKS,
    "annotation:stops": "a note of the judge's page, which the quality page counts",
    "conditional:answers": EVENTS,
    "annotation:preferences": "how the judge's own page looks",
    "accounts:language": "how somebody's own pages look",
    "catalog:fill": ENQUEUES,
    "catalog:check": ENQUEUES,
    "pooling:probe": ENQUEUES,
    "pooling:draw_map": ENQUEUES,
    "pooling:retry": ENQUEUES,
    "annotation:compare": ENQUEUES,
    "conditional:new": ENQUEUES,
    "conditional:import": ENQUEUES,
    "conditional:score": ENQUEUES,
    "conditional:suggest": ENQUEUES,
    "conditional:align": ENQUEUES,
    "learning:new": ENQUEUES,
    "learning:new_embedding": ENQUEUES + "; what is learned is recorded by `learn_embedding`",
    "learning:new_combiner": ENQUEUES + "; what is learned is recorded by `learn_combiner`",
    "learning:editor": ENQUEUES + "; the notion itself is recorded by `learn_notion`",
    "learning:add_pictures": ENQUEUES,
    "learning:draw_notion": ENQUEUES,
    "evaluation:runs": ENQUEUES,
    "releases:freeze": ENQUEUES + "; the release itself is recorded by `_publish`",
    "releases:import": ENQUEUES,
    "releases:submit": ENQUEUES,
    "releases:health": ENQUEUES,
    "api:upload_run": ENQUEUES,
    "api:submit_run": ENQUEUES,
    "pooling:settle": "questions that it opens are recorded by `add_questions`, tested below",
    "accounts:first_admin": "makes an admin, which `make_admin` records, tested below",
    "openid_connect_login": "leads to the institution's sign-in",
    "openid_connect_callback": "ends in a sign-in, which is recorded, or in a refusal",
    "socialaccount_connections": UNUSED,
    "usersessions_list": SHOWS,
    "account_signup": UNUSED,
    "account_email": "leads to the profile",
    "account_email_verification_sent": "leads to the profile",
    "account_set_password": "leads to the change of the password, which everybody has here",
    "account_reset_password": "sends a mail to the owner of an account",
    "account_reauthenticate": "proves again who is there",
    "account_confirm_email": UNUSED,
    "account_confirm_login_code": UNUSED,
    "mfa_reauthenticate": "proves again who is there",
    "mfa_reauthenticate_webauthn": "proves again who is there",
    "mfa_login_webauthn": "ends in a sign-in, which is recorded",
    "mfa_add_webauthn": "the passkey itself is recorded; tests/e2e/test_passkeys.py",
    "mfa_remove_webauthn": "its removal is recorded by the row that goes, as that of an app is",
    "mfa_edit_webauthn": "renames a passkey of one's own",
    "mfa_list_webauthn": UNUSED,
    "mfa_authenticate": "ends in a sign-in, which is recorded, or in a failure, likewise",
    "api:api-root": UNUSED,
    "api:openapi-json": SHOWS,
    "overview": SHOWS,
    "evaluation:below": ENQUEUES,
    "evaluation:classes": ENQUEUES,
    "evaluation:open_round": ENQUEUES + "; the round itself is recorded by `open_round`",
    "evaluation:look": ENQUEUES,
    "evaluation:plan": ENQUEUES,
    "evaluation:make_planned": "the pool is recorded by `create_pool`, its draft when it is made",
    "evaluation:study": ENQUEUES,
    "evaluation:without": ENQUEUES,
    "pooling:pool": SHOWS,
    "pooling:figures": SHOWS,
    "pooling:proposals": SHOWS,
    "pooling:history": SHOWS,
    "pooling:pools": SHOWS,
    "pooling:progress": SHOWS,
    "mfa_index": UNUSED,
    "mfa_view_recovery_codes": UNUSED,
    "mfa_download_recovery_codes": UNUSED,
}


BY_OTHERS = {
    "account_reset_password_from_key",
    "annotation:read",
}  # acts of people who are no admins


def patterns(
    of: Iterable[Any], space: str = "", above: str = ""
) -> Iterator[tuple[str, URLPattern, str]]:
    """Each named address: its name, its pattern, and the patterns that it stands below."""
    for one in of:
        if isinstance(one, URLResolver):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from patterns(one.url_patterns, inner, above + str(one.pattern))
        elif one.name:
            yield f"{space}{one.name}", one, above


def address(name: str, pattern: URLPattern, above: str) -> str:
    made = {
        "uuid": str(uuid.uuid4()),
        "int": 10**9,
        "slug": "x",
        "path": "x",
        "str": "x",
        "uuidstr": str(uuid.uuid4()),
    }
    converters = pattern.pattern.converters
    if converters:
        kinds = {key: type(kind).__name__ for key, kind in converters.items()}
        values = {key: made[kind.lower().removesuffix("converter").replace("string", "str")]
                  for key, kind in kinds.items()}  # fmt: skip
    else:
        values = dict.fromkeys(re.findall(r"\?P<(\w+)>", str(pattern.pattern)), "x")
    values |= dict.fromkeys(re.findall(r"\?P<(\w+)>", above), "x")
    values |= {key: made[kind] for kind, key in re.findall(r"<(\w+):(\w+)>", above)}
    return reverse(name, kwargs=values)


def is_let_in(reply: Any) -> bool:
    """Whether a page did more than to refuse the method or the person."""
    to_sign_in = reply.get("Location", "").startswith("/accounts/login/")
    return reply.status_code not in {401, 403, 405} and not to_sign_in


def test_every_address_that_takes_a_post_is_recorded_or_says_why_not(db: None) -> None:
    admin = User.objects.create_user("ada", role=Role.ADMIN, is_superuser=True, is_staff=True)
    pia = User.objects.create_user("pia", role=Role.ANNOTATOR)
    browsers = {person: signed_in(person) for person in (pia, admin)}
    changing = set()
    for name, pattern, above in patterns(get_resolver().url_patterns):
        if name.startswith("admin:"):
            continue  # registered models are looked at; the one that can be changed is below
        path = address(name, pattern, above)
        for person, browser in browsers.items():
            if "_auth_user_id" not in browser.session:  # an address may sign them out
                browsers[person] = signed_in(person)
        if any(is_let_in(one.post(path)) for one in (Client(), *browsers.values())):
            changing.add(name)
    unknown = changing - STEPS.keys() - UNRECORDED.keys()
    assert not unknown, " ".join(sorted(unknown))
    by_token = {
        *("api:upload_run", "api:exclude", "api:count", "api:pause", "api:resume", "api:reply")
    }
    assert STEPS.keys() <= changing | by_token
    assert not UNRECORDED.keys() & STEPS.keys()


class Scene:
    """A world with something to do for every step."""

    def __init__(self) -> None:
        self.admin = User.objects.create_user(
            "ada", role=Role.ADMIN, is_superuser=True, password=PASSWORD
        )
        self.browser = signed_in(self.admin)
        self.world: World = build_world(n_queries=10)
        self.campaign: Campaign = self.world.campaign
        self.pia = User.objects.create_user("pia", email="pia@example.org")

    def post(self, name: str, /, *arguments: Any, **fields: Any) -> Any:
        return self.browser.post(reverse(name, args=arguments), fields)

    def draft(self) -> Campaign:
        first, second, third = (image.pk for image in self.world.images[:3])
        return create_campaign(
            name="Draft", slug=f"d-{uuid.uuid4().hex[:6]}", pairs=[(first, second), (first, third)],
            panel=self.world.judges,
        )  # fmt: skip

    def gold_file(self) -> SimpleUploadedFile:
        one, two = (image.uid for image in self.world.images[4:6])
        text = f"query,candidate,answer,why\n{one},{two},similar,the same cut\n"
        return SimpleUploadedFile("gold.csv", text.encode())

    def contested(self) -> Question:
        answer_all(self.campaign, self.world.judges[0], same_colour)
        found = self.campaign.questions.filter(kind="pair").first()
        assert found is not None
        return found

    def pool(self, *, done: bool = False) -> Pool:
        pool = Pool.objects.create(
            slug=f"p-{uuid.uuid4().hex[:6]}", name="Another", catalog=self.world.catalog, k=2
        )
        PoolSource.objects.create(pool=pool, position=0, spec="random", k=2)
        return pool

    def job(self, state: str = "queued") -> Job:
        job = enqueue(task="t", subject=uuid.uuid4().hex, title="t", arguments={}, owner=self.admin)
        Job.objects.filter(pk=job.pk).update(state=state)
        return job

    def triplets(self) -> TripletSet:
        return TripletSet.objects.create(slug="t", name="T", catalog=self.world.catalog)

    def template_campaign(self) -> Campaign:
        found = built_set(make_catalog(f"v-{uuid.uuid4().hex[:4]}"), uuid.uuid4().hex)
        panel = [judge.pk for judge in self.world.judges]
        self.post("conditional:new_template_campaign", found.slug, name=found.slug[:20] + "v",
                  panel=panel, seed=0)  # fmt: skip
        return Campaign.objects.latest("pk")

    def space(self, *, has_notion: bool = True) -> TextSpace:
        parent = EmbeddingSet.objects.filter(catalog=self.world.catalog).first()
        assert parent is not None
        space = stored_space(self.world.catalog, parent)
        if not has_notion:
            space.notions.all().delete()
        return space

    def release(self) -> Release:
        return Release.objects.create(
            slug="small", title="Small", major=1, minor=0, patch=0, seal="0" * 64,
            archive_sha256="0" * 64, archive_bytes=1,
        )  # fmt: skip

    def submission(self) -> Submission:
        return Submission.objects.create(
            release=self.release(), owner=self.admin, name="mine", scored_at="2026-01-01T00:00Z"
        )

    def totp(self) -> str:
        """A code that opens the second factor that the page offers now."""
        self.reauthenticate()
        secret = self.browser.get(reverse("mfa_activate_totp")).context["form"].secret
        return str(format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time()))))

    def reauthenticate(self) -> None:
        self.post("account_reauthenticate", password=PASSWORD)

    def with_second_factor(self) -> None:
        code = self.totp()
        self.post("mfa_activate_totp", code=code)
        assert Authenticator.objects.filter(user=self.admin).exists()


def run_of(scene: Scene) -> Run:
    return Run.objects.create(
        campaign=scene.campaign, name="mine", sha256="0" * 64, owner=scene.admin
    )


def token_of(scene: Scene) -> AccessToken:
    return create_token(owner=scene.admin, name="t", scopes=[Scope.READ], days=1)[0]


def in_rounds(scene: Scene, name: str) -> None:
    panel = [judge.pk for judge in scene.world.judges]
    fields = {"seed": 1, "tie_rule": "negative", "answers": "binary", "share": 30, "n_looks": 3}
    scene.post("evaluation:new_rounds", scene.world.pool.slug, name=name, panel=panel,
               measure="AP'", **fields)  # fmt: skip


def stop_in_rounds(scene: Scene) -> None:
    in_rounds(scene, "Stopped")
    plan = RoundPlan.objects.get(campaign__slug="stopped")
    open_campaign(campaign=plan.campaign)
    for judge in scene.world.judges:
        answer_all(plan.campaign, judge, same_colour)
    plan.rounds.update(look={"n_rounds": 1, "n_pairs": 9, "judged": 0.5, "depth": 4, "not_for": [],
                             "n_left_out": 0, "n_found": 1, "n_similar": 2.0, "measure": "AP'",
                             "alpha": 0.05, "n_looks": 3,
                             "labels": label_digest(labels(plan.campaign))})  # fmt: skip
    scene.post("evaluation:stop_rounds", plan.campaign.slug)


def make_token(scene: Scene) -> None:
    scene.reauthenticate()
    scene.post("accounts:new_token", name="n", scopes=["read"], days=7)


def zip_of_nothing() -> SimpleUploadedFile:
    return SimpleUploadedFile("pictures.zip", b"PK\x05\x06" + b"\0" * 18)


def add_webhook(scene: Scene) -> int:
    scene.post("notices:add_webhook", url="https://example.org/hook")
    return Channel.objects.get(kind="webhook").pk


def leave_out(scene: Scene) -> uuid.UUID:
    uid = scene.world.images[0].uid
    scene.post("catalog:leave_out", scene.world.catalog.slug, uid, reason="cut off")
    return uid


def join_products(scene: Scene) -> int:
    first, *_, last = (image.uid for image in scene.world.images)
    scene.post("catalog:join", scene.world.catalog.slug, first, last)
    return ProductMerge.objects.latest("pk").pk


def end_session(scene: Scene) -> None:
    Client().post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    scene.post("accounts:end_session", UserSession.objects.get(user=scene.admin).pk)


def reset_password(scene: Scene) -> None:
    """Use a link as an invited person does."""
    scene.post("accounts:link", scene.pia.pk)
    path = scene.browser.session["password_link"][1].removeprefix("http://testserver")
    browser = Client()
    reply = browser.get(path, follow=True)
    chosen = {"password1": PASSWORD, "password2": PASSWORD}
    browser.post(reply.redirect_chain[-1][0], chosen)


def rule(scene: Scene) -> None:
    question = scene.contested()
    scene.post("annotation:rule", scene.campaign.slug, question=question.uid, answer="similar",
               reason="plain to see")  # fmt: skip


def exclude(scene: Scene) -> uuid.UUID:
    event = scene.contested().judgements.get().event.uuid
    scene.post("annotation:change_answers", scene.campaign.slug, answers=[event], do="exclude",
               reason="held a key")  # fmt: skip
    return event


def read_guidelines(scene: Scene) -> None:
    scene.post("annotation:save_guidelines", scene.campaign.slug, text="# Look")
    client = signed_in(scene.world.judges[0])
    address = reverse("annotation:read", args=[scene.campaign.uid])
    assert client.post(address, {"version": 2}, content_type="application/json").status_code == 200


def asked_by_judge(scene: Scene) -> uuid.UUID:
    return Comment.objects.create(
        uuid=uuid.uuid4(), member=scene.campaign.panel.all()[0], text="Why?", guideline_version=1,
        question=scene.campaign.questions.all()[0], made_at=timezone.now(),
    ).uuid  # fmt: skip


def reply_to_question(scene: Scene) -> None:
    asked = asked_by_judge(scene)
    scene.post("annotation:question", scene.campaign.slug, asked, reply="So.", text="")


def reply_by_api(scene: Scene) -> None:
    by_api(scene, "reply", asked_by_judge(scene), reply="So.")


def by_api(scene: Scene, name: str, *arguments: object, **body: object) -> None:
    name_of_token = uuid.uuid4().hex
    _, token = create_token(owner=scene.admin, name=name_of_token, scopes=[Scope.REVIEW], days=1)
    address = reverse(f"api:{name}", args=[scene.campaign.slug, *arguments])
    headers = {"Authorization": f"Bearer {token}"}
    reply = Client().post(address, body, content_type="application/json", headers=headers)
    assert reply.status_code == 200, reply.content


def exclude_by_api(scene: Scene) -> None:
    event = scene.contested().judgements.get().event.uuid
    by_api(scene, "exclude", judgements=[str(event)], reason="held a key")


def count_by_api(scene: Scene) -> None:
    by_api(scene, "count", judgements=[str(exclude(scene))])


def pause_by_api(scene: Scene) -> None:
    by_api(scene, "pause", 1, reason="held a key")


def resume_by_api(scene: Scene) -> None:
    pause_by_api(scene)
    by_api(scene, "resume", 1)


def withdraw(scene: Scene) -> None:
    rule(scene)
    question = Question.objects.get(adjudication__isnull=False)
    scene.post("annotation:withdraw", scene.campaign.slug, question.uid)


def ruling_to_gold(scene: Scene) -> None:
    rule(scene)
    question = Question.objects.get(adjudication__isnull=False)
    use = f"{scene.campaign.slug}:example"
    scene.post("annotation:ruling_to_gold", scene.campaign.slug, question.uid, use=use)


def drop_gold(scene: Scene) -> None:
    scene.post("annotation:gold_from_file", scene.campaign.slug, purpose="example",
               file=scene.gold_file())  # fmt: skip
    question = Question.objects.get(kind="example")
    scene.post("annotation:drop_gold", scene.campaign.slug, question.uid)


def gold_from_campaign(scene: Scene) -> None:
    for judge in scene.world.judges:
        answer_all(scene.campaign, judge, same_colour)
    scene.post("annotation:gold_from_campaign", scene.draft().slug, purpose="gold", n=2,
               source=scene.campaign.pk)  # fmt: skip


def top_up(scene: Scene) -> None:
    scene.post("pooling:top_up", scene.world.pool.slug, models="descriptor:lbp-texture")


def depth(scene: Scene) -> None:
    source = scene.world.pool.sources.get(position=0)
    PoolSource.objects.filter(pk=source.pk).update(wanted_k=9)
    scene.post("pooling:withdraw", scene.world.pool.slug, 0)


def ask_about_triplets(scene: Scene) -> Campaign:
    triplet_set = scene.triplets()
    one, two, three = scene.world.images[:3]
    TripletQuestion.objects.create(
        triplet_set=triplet_set, position=0, anchor=one, first=two, second=three
    )
    panel = [judge.pk for judge in scene.world.judges]
    scene.post("conditional:new_triplet_campaign", triplet_set.slug, name="V", panel=panel, seed=0)
    scene.post("annotation:move", "v", "open")
    return Campaign.objects.get(slug="v")


def keep(scene: Scene) -> None:
    found = ask_about_triplets(scene)
    say(Browser(found, scene.world.judges[0]), subjects_of(found)[0], 0)
    scene.post("annotation:move", found.slug, "close", reason="done")
    scene.post("conditional:keep", found.slug, name="Kept")


def deactivate(scene: Scene) -> None:
    scene.with_second_factor()
    scene.post("mfa_deactivate_totp")


def codes(scene: Scene) -> None:
    scene.with_second_factor()
    scene.post("mfa_generate_recovery_codes")


Step = tuple[Callable[[Scene], object], str]
STEPS: dict[str, Step] = {
    "evaluation:new_rounds": (lambda s: in_rounds(s, "By rounds"), "round_opened"),
    "evaluation:stop_rounds": (stop_in_rounds, "rounds_stopped"),
    "account_login": (
        lambda s: Client().post("/accounts/login/", {"login": "ada", "password": PASSWORD}),
        "signed_in",
    ),
    "account_logout": (lambda s: s.post("account_logout"), "signed_out"),
    "account_change_password": (
        lambda s: s.post(
            "account_change_password",
            oldpassword=PASSWORD,
            password1="a b c d 1 !",
            password2="a b c d 1 !",
        ),
        "password_changed",
    ),
    "accounts:end_session": (end_session, "session_ended"),
    "account_reset_password_from_key": (reset_password, "password_changed"),
    "mfa_activate_totp": (Scene.with_second_factor, "second_factor_added"),
    "mfa_deactivate_totp": (deactivate, "second_factor_removed"),
    "mfa_generate_recovery_codes": (codes, "recovery_codes_made"),
    "accounts:profile": (
        lambda s: s.post("accounts:profile", first_name="Ada", last_name="L"),
        "person_changed",
    ),
    "accounts:invite": (
        lambda s: s.post("accounts:invite", username="new", role="annotator"),
        "person_invited",
    ),
    "accounts:invite_many": (
        lambda s: s.post("accounts:invite_many", people="new@example.org", role="annotator"),
        "person_invited",
    ),
    "accounts:person": (
        lambda s: s.post("accounts:person", s.pia.pk, first_name="Pia", last_name="", email=""),
        "person_changed",
    ),
    "accounts:role": (
        lambda s: s.post("accounts:role", s.pia.pk, role="researcher"),
        "role_changed",
    ),
    "accounts:active": (
        lambda s: s.post("accounts:active", s.pia.pk, is_active="0"),
        "account_closed",
    ),
    "accounts:link": (lambda s: s.post("accounts:link", s.pia.pk), "password_link_made"),
    "accounts:new_token": (make_token, "token_made"),
    "accounts:revoke_token": (
        lambda s: s.post("accounts:revoke_token", token_of(s).uid),
        "token_revoked",
    ),
    "jobs:cancel": (lambda s: s.post("jobs:cancel", s.job().uid), "job_cancelled"),
    "jobs:retry": (lambda s: s.post("jobs:retry", s.job("failed").uid), "job_retried"),
    "jobs:dismiss": (lambda s: s.post("jobs:dismiss", s.job("failed").uid), "job_dismissed"),
    "catalog:new": (
        lambda s: s.post("catalog:new", name="N", slug="n", upload=zip_of_nothing()),
        "catalog_import",
    ),
    "notices:mail": (lambda s: s.post("notices:mail", choice="all"), "notices_chosen"),
    "notices:add_webhook": (add_webhook, "webhook_added"),
    "notices:remove_webhook": (
        lambda s: s.post("notices:remove_webhook", add_webhook(s)),
        "webhook_removed",
    ),
    "catalog:leave_out": (leave_out, "image_left_out"),
    "catalog:take_back": (
        lambda s: s.post("catalog:take_back", s.world.catalog.slug, leave_out(s)),
        "image_taken_back",
    ),
    "catalog:join": (join_products, "products_joined"),
    "catalog:part": (
        lambda s: s.post("catalog:part", s.world.catalog.slug, join_products(s)),
        "products_parted",
    ),
    "catalog:delete": (
        lambda s: s.post("catalog:delete", Catalog.objects.create(slug="old").slug, slug="old"),
        "catalog_deleted",
    ),
    "annotation:move": (
        lambda s: s.post("annotation:move", s.campaign.slug, "pause", reason="lunch"),
        "campaign_paused",
    ),
    "annotation:save_settings": (
        lambda s: s.post(
            "annotation:save_settings",
            s.campaign.slug,
            name="Other",
            tie_rule="negative",
            lease_minutes=7,
            pass_percent=80,
        ),
        "settings_changed",
    ),
    "annotation:add_to_panel": (
        lambda s: s.post("annotation:add_to_panel", s.campaign.slug, annotators=[s.pia.pk]),
        "panel_added",
    ),
    "annotation:invite_to_panel": (
        lambda s: s.post("annotation:invite_to_panel", s.campaign.slug, people="new@example.org"),
        "panel_added",
    ),
    "annotation:member": (
        lambda s: s.post("annotation:member", s.campaign.slug, 1, "remove"),
        "panel_removed",
    ),
    "annotation:save_guidelines": (
        lambda s: s.post("annotation:save_guidelines", s.campaign.slug, text="# Look"),
        "guidelines_published",
    ),
    "annotation:read": (read_guidelines, "guidelines_read"),
    "annotation:question": (reply_to_question, "comment_answered"),
    "annotation:gold_from_file": (
        lambda s: s.post(
            "annotation:gold_from_file", s.draft().slug, purpose="gold", file=s.gold_file()
        ),
        "gold_added",
    ),
    "annotation:gold_from_campaign": (gold_from_campaign, "gold_added"),
    "annotation:drop_gold": (drop_gold, "gold_removed"),
    "annotation:pair_to_gold": (
        lambda s: s.post(
            "annotation:pair_to_gold",
            s.campaign.slug,
            s.campaign.questions.all()[0].uid,
            use=f"{s.campaign.slug}:gold",
            answer="similar",
        ),
        "gold_added",
    ),
    "annotation:rule": (rule, "ruling_made"),
    "annotation:ruling_to_gold": (ruling_to_gold, "gold_added"),
    "api:pause": (pause_by_api, "judge_paused"),
    "api:resume": (resume_by_api, "judge_resumed"),
    "annotation:change_answers": (exclude, "answers_excluded"),
    "api:reply": (reply_by_api, "comment_answered"),
    "api:exclude": (exclude_by_api, "answers_excluded"),
    "api:count": (count_by_api, "answers_counted_again"),
    "annotation:withdraw": (withdraw, "ruling_withdrawn"),
    "pooling:new": (
        lambda s: s.post(
            "pooling:new",
            name="P",
            catalog=s.world.catalog.pk,
            k=2,
            models="descriptor:lbp-texture",
            n_queries=2,
            seed=0,
            how="sample",
        ),
        "pool_made",
    ),
    "pooling:new_campaign": (
        lambda s: s.post(
            "pooling:new_campaign",
            s.world.pool.slug,
            name="Round two",
            seed=1,
            panel=[judge.pk for judge in s.world.judges],
            tie_rule="negative",
            asking_order="shuffled",
        ),
        "campaign_made",
    ),
    "pooling:top_up": (top_up, "pool_topped_up"),
    "pooling:withdraw": (depth, "pool_depth_withdrawn"),
    "pooling:start": (lambda s: s.post("pooling:start", s.pool().slug), "job_started"),
    "pooling:stop": (lambda s: s.post("pooling:stop", s.pool().slug, 0), "job_cancelled"),
    "pooling:cancel": (lambda s: s.post("pooling:cancel", s.pool().slug), "job_cancelled"),
    "pooling:delete": (lambda s: s.post("pooling:delete", s.pool().slug), "pool_deleted"),
    "learning:delete": (
        lambda s: s.post("learning:delete", s.space(has_notion=False).slug),
        "text_space_deleted",
    ),
    "learning:delete_notion": (
        lambda s: s.post("learning:delete_notion", s.space().slug, "colour"),
        "notion_deleted",
    ),
    "conditional:new_template_campaign": (Scene.template_campaign, "campaign_made"),
    "conditional:new_triplet_campaign": (ask_about_triplets, "campaign_opened"),
    "conditional:keep": (keep, "set_made"),
    "conditional:delete": (
        lambda s: s.post("conditional:delete", built_set(make_catalog("d")).slug),
        "set_deleted",
    ),
    "conditional:delete_triplets": (
        lambda s: s.post("conditional:delete_triplets", s.triplets().slug),
        "set_deleted",
    ),
    "evaluation:evaluate": (
        lambda s: s.post("evaluation:evaluate", s.campaign.slug),
        "job_started",
    ),
    "evaluation:delete_run": (
        lambda s: s.post("evaluation:delete_run", s.campaign.slug, run_of(s).uid),
        "run_deleted",
    ),
    "releases:visibility": (
        lambda s: s.post("releases:visibility", s.release().slug, "1.0.0", show="public"),
        "release_shown",
    ),
    "releases:publish": (
        lambda s: s.post("releases:publish", s.submission().uid, show="yes"),
        "submission_published",
    ),
    "releases:delete": (
        lambda s: s.post("releases:delete", s.submission().uid),
        "submission_deleted",
    ),
}


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_what_is_done_there_is_recorded(db: None, subtests: pytest.Subtests) -> None:
    scene = Scene()
    for name, (act, action) in STEPS.items():
        before = transaction.savepoint()
        n_before = Entry.objects.count()
        scene.admin.refresh_from_db()
        scene.browser = signed_in(scene.admin)
        last = Entry.objects.latest("id").pk
        with subtests.test(name):
            act(scene)
            made = Entry.objects.filter(action=action, pk__gt=last).first()
            assert made is not None, list(Entry.objects.values_list("action", flat=True)[:5])
            assert made.address == "127.0.0.1"
            assert made.request_id
            if name not in BY_OTHERS:
                assert made.actor_name == "ada"
        transaction.savepoint_rollback(before)
        assert Entry.objects.count() == n_before


def test_whoever_makes_an_admin_without_a_page_is_recorded(db: None) -> None:
    person = make_admin(username="ada", email="", password=PASSWORD, how="a command")
    entry = Entry.objects.get(action="person_made")
    assert (entry.subject_label, entry.details["how"]) == (str(person), "a command")
