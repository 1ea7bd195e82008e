import re
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from accounts.models import Role, User
from annotation.errors import CampaignError
from annotation.models import (
    Adjudication,
    Campaign,
    CampaignState,
    Gold,
    JudgementEvent,
    QuestionKind,
    Stage,
)
from annotation.queries.guidelines import guideline_in_force
from annotation.services import change_settings, import_judgements, publish_guidelines
from annotation.services.sensitivity import TASK
from annotation.tasks import compare_voter_models
from audit.models import Entry
from catalog.models import Projection
from jobs.models import Job
from lookalike.agreement.grades import Scale
from tests.clients import Browser
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db

PAGES = [
    "campaign", "panel", "invite_to_panel", "edit_guidelines", "gold", "answers_given",
    "quality", "agreement", "adjudication", "settings",
]  # fmt: skip
CHANGES: list[tuple[str, list[object]]] = [
    ("move", ["pause"]), ("save_settings", []), ("add_to_panel", []), ("member", [1, "remove"]),
    ("preview", []), ("save_guidelines", []), ("gold_from_file", []), ("gold_from_campaign", []),
    ("drop_gold", [uuid.uuid4()]), ("rule", []), ("withdraw", [uuid.uuid4()]), ("compare", []),
]  # fmt: skip

FORMS = {  # what shows a refused form itself, and the form's page
    "save_settings": "settings", "add_to_panel": "panel", "save_guidelines": "edit_guidelines",
    "gold_from_file": "gold",
}  # fmt: skip


@pytest.fixture
def campaign(campaign_of):
    return campaign_of(1, 6, 3)


@pytest.fixture
def judged(campaign):
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sss ssd sdc ddd kkk sdd"))
    return campaign


@pytest.fixture
def admin(people):
    client = Client()
    client.force_login(people(1, Role.ADMIN)[0])
    return client


def person_of(client):
    return User.objects.get(pk=client.session["_auth_user_id"])


def url(name, campaign, *more):
    return reverse(f"annotation:{name}", args=[campaign.slug, *more])


def post(client, page, campaign, *more, **data):
    reply = client.post(url(page, campaign, *more), data, follow=True)
    assert reply.status_code == 200, reply.content.decode()[:2000]
    return reply.content.decode()


@pytest.mark.parametrize("state", ["empty", "judged", "draft"])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_campaign_in_every_state(page, state, admin, campaign_of, request):
    if state == "judged":
        campaign = request.getfixturevalue("judged")
    else:
        campaign = campaign_of(1, 2, 2, is_open=state == "empty")
    reply = admin.get(url(page, campaign))
    assert reply.status_code == 200
    assert campaign.name in reply.content.decode()


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER])
def test_only_admins_run_campaigns(role, people, campaign):
    client = Client()
    client.force_login(people(1, role)[0])
    for page in PAGES:
        assert client.get(url(page, campaign)).status_code == 403
    for name, arguments in CHANGES:
        assert client.post(url(name, campaign, *arguments)).status_code == 403
    assert client.get(reverse("annotation:campaigns")).status_code == 403
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.OPEN


def test_a_member_of_the_panel_sees_no_page_of_the_campaign(campaign):
    client = Client()
    client.force_login(campaign.panel.all()[0].annotator)
    assert all(client.get(url(page, campaign)).status_code == 403 for page in PAGES)


def test_strangers_are_asked_to_sign_in(campaign):
    assert all(Client().get(url(page, campaign)).status_code == 302 for page in PAGES)


def test_changes_are_posted_with_the_token(admin, campaign):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person_of(admin))
    for name, arguments in CHANGES:
        assert strict.post(url(name, campaign, *arguments)).status_code == 403
        status = 302 if name in FORMS else 405
        assert admin.get(url(name, campaign, *arguments)).status_code == status


@pytest.mark.parametrize("name", FORMS)
def test_the_address_of_a_refused_form_leads_to_its_page(name, admin, campaign):
    for visit in (admin.get, admin.head):
        reply = visit(url(name, campaign))
        assert (reply.status_code, reply["Location"]) == (302, url(FORMS[name], campaign))


def test_an_unknown_campaign_is_a_404(admin):
    for page in PAGES:
        assert admin.get(reverse(f"annotation:{page}", args=["nothing"])).status_code == 404


def test_the_list_tells_state_and_progress(admin, judged):
    page = admin.get(reverse("annotation:campaigns")).content.decode()
    assert judged.name in page
    assert "100 %" in page


def test_a_campaign_is_paused_opened_and_closed_with_reasons(admin, campaign):
    assert "Say why" in post(admin, "move", campaign, "pause", reason="")
    assert "is paused" in post(admin, "move", campaign, "pause", reason="Lunch & rest")
    assert "Lunch &amp; rest" in admin.get(url("campaign", campaign)).content.decode()
    post(admin, "move", campaign, "open", reason="Fed")
    post(admin, "move", campaign, "close", reason="Done")
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.CLOSED
    assert admin.post(url("move", campaign, "explode")).status_code == 404
    assert campaign.state_changes.filter(changed_by=person_of(admin)).count() == 3


def test_simulated_judges_are_told_on_every_page(admin, campaign_of, people):
    campaign = campaign_of(1, 1, panel=people(2, simulated=True))
    for page in PAGES:
        assert "Simulated judgements" in admin.get(url(page, campaign)).content.decode()
    assert "simulated" in admin.get(reverse("annotation:campaigns")).content.decode()


# ---- settings ----
def settings_of(campaign, **changes):
    given = {
        name: getattr(campaign, name)
        for name in ("name", "tie_rule", "serving", "k", "lease_minutes", "repeat_percent",
                     "mirror_percent", "pass_percent", "seed")
    }  # fmt: skip
    return {**given, **changes}


def test_a_drafts_rules_can_all_be_changed(admin, campaign_of):
    draft = campaign_of(1, 2, 3, is_open=False)
    post(
        admin, "save_settings", draft,
        **settings_of(draft, serving="k_of_n", k=2, repeat_percent=10, closes_settled="on"),
    )  # fmt: skip
    draft.refresh_from_db()
    assert (draft.serving, draft.k, draft.repeat_percent, draft.closes_settled) == (
        "k_of_n", 2, 10, True,
    )  # fmt: skip
    assert set(draft.questions.values_list("n_free", flat=True)) == {2}
    assert "Votes for each pair (k): 3 → 2" in draft.state_changes.all()[0].reason


def test_what_shapes_the_queues_is_fixed_once_they_are_drawn(admin, campaign):
    given = settings_of(campaign, seed=99, k=1, tie_rule="undecided", name="New name")
    post(admin, "save_settings", campaign, **given)
    campaign.refresh_from_db()
    assert (campaign.seed, campaign.k) == (0, 3)
    assert (campaign.tie_rule, campaign.name) == ("undecided", "New name")


@pytest.fixture
def colour(db) -> Projection:
    return Projection.objects.create(
        slug="space", head="colour", name="Colour", parent_spec="timm:made", parent_fingerprint="f",
        fingerprint="f", sha256="0" * 64, dim=2, card={"prompts": ["a red shoe", "a blue shoe"]},
    )  # fmt: skip


def test_what_a_form_does_not_name_stays(admin, campaign_of, colour):
    draft = campaign_of(1, 1, 1, is_open=False, scale=Scale(("No", "A little", "Yes"), 1))
    change_settings(campaign=draft, by=None, notion_model=colour.spec)
    post(admin, "save_settings", draft, **settings_of(draft, name="New name"))
    draft.refresh_from_db()
    assert (draft.name, draft.grades, draft.similar_from) == ("New name", "No\nA little\nYes", 1)
    assert draft.asked_notion == ("colour", colour.spec, ("a red shoe", "a blue shoe"))


def test_the_model_of_a_drafts_notion_comes_with_its_prompts_and_goes_with_its_words(
    admin, campaign_of, colour
):
    draft = campaign_of(1, 1, 1, is_open=False)
    given = settings_of(draft)
    post(admin, "save_settings", draft, **given, notion="hue", notion_model=colour.spec)
    draft.refresh_from_db()
    assert draft.asked_notion == ("hue", colour.spec, ("a red shoe", "a blue shoe"))
    assert f"Learned notion: none → {colour.spec}" in draft.state_changes.all()[0].reason
    wrong = admin.post(url("save_settings", draft), {**given, "notion_model": "learned:space#no"})
    assert wrong.status_code == 422
    assert "no notion is called" in wrong.content.decode()
    colour.delete()  # the draft keeps its copy
    post(admin, "save_settings", draft, **given, notion="shade", notion_model=draft.notion_model)
    draft.refresh_from_db()
    assert (draft.notion, len(draft.asked_notion.prompts)) == ("shade", 2)
    told = draft.state_changes.all()[0].reason
    assert told == "Settings: Similar in what: hue → shade", told
    post(admin, "save_settings", draft, **given, notion="", notion_model=draft.notion_model)
    draft.refresh_from_db()
    assert draft.asked_notion == ("", "", ())
    told = Entry.objects.order_by("-pk")[0].details
    assert told == {
        "notion": "shade → ", "notion_model": f"{colour.spec} → ",
        "notion_prompts": "a red shoe\na blue shoe → ",
    }  # fmt: skip


def test_settings_that_are_empty_for_good_are_not_shown(admin, campaign_of):
    fields = ('name="grades"', 'name="similar_from"', 'name="notion"')
    shown = {
        is_open: admin.get(url("settings", campaign_of(1, 1, 1, is_open=is_open))).content.decode()
        for is_open in (False, True)
    }
    assert [field in shown[False] for field in fields] == [True] * 3
    assert [field in shown[True] for field in fields] == [False] * 3


@pytest.mark.parametrize(
    "change",
    [{"serving": "k_of_n", "k": 4}, {"repeat_percent": 60}, {"pass_percent": 101}, {"k": 0},
     {"tie_rule": "coin"}, {"name": ""}],
)  # fmt: skip
def test_rules_that_cannot_work_are_refused(change, admin, campaign_of):
    draft = campaign_of(1, 2, 3, is_open=False)
    before = Campaign.objects.filter(pk=draft.pk).values().get()
    reply = admin.post(url("save_settings", draft), settings_of(draft, **change))
    assert reply.status_code == 422
    assert Campaign.objects.filter(pk=draft.pk).values().get() == before


def test_what_is_out_of_range_is_said_once_at_its_field(admin, campaign_of):
    draft = campaign_of(1, 2, 3, is_open=False)
    wrong = settings_of(draft, pass_percent=900, k=0, repeat_percent=80)
    page = admin.post(url("save_settings", draft), wrong).content.decode()
    assert "Constraint" not in page
    for name, problem in (
        ("pass_percent", "A pass mark of 900 % cannot be reached."),
        ("k", "k = 0 judges cannot be had from a panel of 3."),
        ("repeat_percent", "At most half of the pairs can be asked again."),
    ):
        assert page.count(problem) == 1
        field = re.search(rf'<input[^>]* name="{name}"[^>]*>', page)
        assert field
        assert 'aria-invalid="true"' in field[0]
    assert re.search(r'name="k"[^>]* min="1"', page)
    assert re.search(r'name="pass_percent"[^>]* max="100"', page)


def test_a_refusal_of_no_field_is_said_once(admin, campaign_of):
    draft = campaign_of(1, 1, 1, is_open=False)
    wrong = settings_of(draft, grades="One")
    page = admin.post(url("save_settings", draft), wrong).content.decode()
    assert page.count("errorlist nonfield") == 1


# ---- panel ----
def test_annotators_are_put_on_the_panel_taken_off_and_put_back(admin, campaign, people):
    [late] = people(1)
    post(admin, "add_to_panel", campaign, annotators=[late.pk])
    member = campaign.panel.get(annotator=late)
    assert member.n_total == 6
    post(admin, "member", campaign, member.number, "remove")
    judge = Browser(campaign, late)
    assert judge.client.get(judge.url("next")).status_code == 404
    post(admin, "member", campaign, member.number, "restore")
    assert len(judge.next()) == 6


@pytest.mark.parametrize(
    ("stage", "says"),
    [(Stage.TRAINING, "Skip training"), (Stage.QUALIFICATION, "Skip qualification"),
     (Stage.NOT_QUALIFIED, "Admit")],
)  # fmt: skip
def test_a_judge_is_let_in_by_a_button_that_says_past_what(admin, campaign, stage, says):
    campaign.panel.filter(number=1).update(stage=stage)
    assert f">{says}</button>" in admin.get(url("panel", campaign)).content.decode()


def test_one_refused_line_keeps_all_off_the_panel(admin, campaign, mailoutbox):
    people = "new@example.org\nna<b>me\nbo\nada, a@example.org, b@example.org"
    page = post(admin, "invite_to_panel", campaign, people=people, sends_mail="on")
    assert "2 refused" in page
    assert "Line 2" in page
    assert "Line 4" in page
    assert "Nobody is added" in page
    assert escape(people) in page
    assert campaign.panel.count() == 3
    assert not User.objects.filter(username__in=("new", "bo")).exists()
    assert not mailoutbox


def test_people_are_invited_straight_onto_a_panel(admin, campaign):
    page = post(admin, "invite_to_panel", campaign, people="new@example.org\nbo")
    assert "2 added to the panel. 12 more answers are wanted, 6 from each." in page
    fresh = campaign.panel.filter(number__gt=3).values_list("annotator__username", flat=True)
    assert list(fresh) == ["new", "bo"]
    newcomer = User.objects.get(username="new")
    assert newcomer.role == Role.ANNOTATOR
    assert len(Browser(campaign, newcomer).next()) == 6
    forged = post(admin, "invite_to_panel", campaign, people="eve", role="admin")
    assert "1 added to the panel. 6 more answers are wanted." in forged
    assert User.objects.get(username="eve").role == Role.ANNOTATOR


def test_admins_and_unknown_people_are_not_put_on_a_panel(admin, campaign, people):
    [researcher] = people(1, Role.RESEARCHER)
    for person in (researcher.pk, person_of(admin).pk, 10**9, "x"):
        post(admin, "add_to_panel", campaign, annotators=[person])
    assert campaign.panel.count() == 3


def test_the_last_judge_stays(admin, campaign):
    campaign.panel.filter(number__gt=1).update(is_active=False)
    assert "at least 1" in post(admin, "member", campaign, 1, "remove")
    assert campaign.panel.get(number=1).is_active


def test_an_admin_lets_somebody_judge_who_failed(admin, campaign):
    campaign.panel.filter(number=1).update(stage=Stage.NOT_QUALIFIED)
    post(admin, "member", campaign, 1, "admit")
    assert campaign.panel.get(number=1).stage == Stage.JUDGING
    assert admin.post(url("member", campaign, 1, "fire")).status_code == 404
    assert admin.post(url("member", campaign, 9, "admit")).status_code == 404


# ---- guidelines ----
def test_guidelines_are_versioned_and_judgements_keep_theirs(admin, campaign):
    judge = Browser(campaign, campaign.panel.all()[0].annotator)
    judge.judge()
    post(admin, "save_guidelines", campaign, text="# Look at the seams")
    assert judge.get("next")["guideline_version"] == 2
    assert "Look at the seams" in judge.get("guidelines")["html"]
    assert campaign.guidelines.count() == 2
    assert JudgementEvent.objects.get().guideline_version == 1
    again = admin.post(url("save_guidelines", campaign), {"text": " # Look at the seams\r\n"})
    assert again.status_code == 422
    assert "in force already" in again.content.decode()
    assert guideline_in_force(campaign.pk).author == person_of(admin)


def test_a_drafts_guidelines_are_replaced(campaign_of):
    draft = campaign_of(1, 1, is_open=False)
    publish_guidelines(campaign=draft, text="One", by=None)
    publish_guidelines(campaign=draft, text="Two", by=None)
    assert (draft.guidelines.count(), guideline_in_force(draft.pk).text) == (1, "Two")
    with pytest.raises(CampaignError, match="at most"):
        publish_guidelines(campaign=draft, text="x" * 100_001, by=None)


def test_where_no_earlier_panel_took_the_same_answers_the_page_of_gold_says_so(
    admin, campaign_of, judged
):
    words = "No campaign that was opened takes the same answers"
    assert words not in admin.get(url("gold", campaign_of(is_open=False))).content.decode()
    graded = campaign_of(is_open=False, scale=Scale(("No", "A little", "Yes"), 1))
    page = admin.get(url("gold", graded)).content.decode()
    assert words in page
    assert "from_campaign_source" not in page


def test_excluding_asks_for_a_reason_before_it_is_sent_and_counting_again_does_not(admin, judged):
    page = admin.get(url("answers_given", judged)).content.decode()
    assert re.search(r'<input id="id_reason"[^>]* required', page)
    assert re.search(r'value="count" formnovalidate', page)


def test_the_labels_without_any_judge_are_one_step_from_quality(admin, judged):
    page = admin.get(url("quality", judged)).content.decode()
    for member in judged.panel.all():
        assert reverse("evaluation:without", args=[judged.slug, member.number]) in page


def test_a_share_says_how_many_as_other_columns_do():
    share = {"n": 1704, "value": 0.93}
    assert "of 1,704" in render_to_string("annotation/_share.html", {"share": share})


def test_guidelines_are_the_reason_of_a_ruling_only_where_there_are_some(admin, campaign_of):
    campaign = campaign_of(1, 1, 2)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "sd"))
    form = admin.get(url("adjudication", campaign)).context["form"]
    assert form["preset"].value() == "Plain to see when looked at closely"
    publish_guidelines(campaign=campaign, text="Look at the collar.", by=None)
    form = admin.get(url("adjudication", campaign)).context["form"]
    assert form["preset"].value() == "The guidelines decide it"


def test_the_preview_is_what_judges_will_read_and_runs_nothing(admin, campaign):
    hostile = "## Seams\n\n<img src=x onerror=alert(1)> <script>alert(1)</script> **yes**"
    reply = admin.post(url("preview", campaign), {"text": hostile}).content.decode()
    assert "<strong>yes</strong>" in reply
    assert "<script" not in reply
    assert "<img" not in reply
    post(admin, "save_guidelines", campaign, text=hostile)
    page = admin.get(url("edit_guidelines", campaign)).content.decode()
    assert "<script>alert" not in page


# ---- gold ----
def gold_file(text, name="gold.csv"):
    return SimpleUploadedFile(name, text.encode())


def test_gold_comes_from_a_file(admin, campaign_of):
    draft = campaign_of(1, 2, 1, is_open=False)
    first, second = draft.questions.all()
    text = (
        "query,candidate,answer,why\n"
        f"{first.query.uid},{first.candidate.sha256},similar,Same seam\n"
        f"{second.query.uid},{second.candidate.uid},different,Other cut\n"
    )
    page = post(admin, "gold_from_file", draft, purpose="training", file=gold_file(text))
    assert "Same seam" in page
    assert sorted(Gold.objects.values_list("answer", flat=True)) == ["different", "similar"]
    gold = Gold.objects.all()[0]
    post(admin, "drop_gold", draft, gold.question.uid)
    assert Gold.objects.count() == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nothing.jpg,{c},similar,x", "row 3: &#x27;nothing.jpg&#x27; is no image"),
        ("{q},{c},maybe,x", "row 3: the answer"),
        ("{q},{b},similar,x", "row 3: this pair stands in an earlier row"),
        ("{q},{c}", "row 3 has 2 fields"),
        ("{q},{q},similar,x", "to itself"),
        ("{q},{c},similar,", "Say why"),
    ],
)
def test_a_bad_gold_file_is_refused_whole(row, message, admin, campaign_of):
    draft = campaign_of(1, 2, 1, is_open=False)
    first, second = draft.questions.all()
    names = {"q": first.query.uid, "b": first.candidate.uid, "c": second.candidate.uid}
    text = f"query,candidate,answer,why\n{names['q']},{names['b']},similar,x\n"
    given = {"purpose": "training", "file": gold_file(text + row.format(**names))}
    reply = admin.post(url("gold_from_file", draft), given)
    assert reply.status_code == 422
    assert message in reply.content.decode()
    assert not Gold.objects.exists()


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("foo, bar", "the columns query, candidate and answer are missing; its header is: “foo”, "
         "“bar”"),
        ("query,candidate", "the column answer is missing; its header is: “query”, “candidate”"),
        ("qu\xe9ry,x", "row 1 is not UTF-8"),
    ],
)  # fmt: skip
def test_a_wrong_header_is_told_in_words_at_the_file(header, problem, admin, campaign_of):
    file = SimpleUploadedFile("bad.csv", f"{header}\na,b\n".encode("latin-1"))
    draft = campaign_of(1, 1, 1, is_open=False)
    reply = admin.post(url("gold_from_file", draft), {"purpose": "gold", "file": file})
    [told] = reply.context["file_form"].errors["file"]
    assert problem in told
    assert problem in reply.content.decode()


# ---- progress, answers and quality ----
def stages_of(admin, campaign):
    return [judge.stage for judge in admin.get(url("campaign", campaign)).context["row"].judges]


def test_the_stage_of_a_judge_says_who_is_done_off_the_panel_or_has_not_begun(admin, campaign_of):
    campaign = campaign_of(1, 2, 3)
    Browser(campaign, campaign.panel.get(number=1).annotator).judge(n=2)
    campaign.panel.filter(number=3).update(is_active=False)
    assert stages_of(admin, campaign) == ["Done", "Judging", "–"]
    draft = campaign_of(1, 2, 2, is_open=False)
    assert stages_of(admin, draft) == ["Not begun", "Not begun"]
    assert "wanted</dt>" not in admin.get(url("campaign", draft)).content.decode()


def test_who_has_not_answered_has_no_answers_yet(admin, campaign):
    page = admin.get(url("answers_given", campaign), {"judge": 1}).content.decode()
    assert "No answers yet" in page
    assert "Widen the filters" not in page
    Browser(campaign, campaign.panel.get(number=1).annotator).judge()
    page = admin.get(url("answers_given", campaign), {"judge": 1, "answer": "skip"})
    assert "Widen the filters" in page.content.decode()


def test_quality_says_nothing_of_what_there_is_nothing_to_go_by(admin, campaign, campaign_of):
    page = admin.get(url("quality", campaign)).content.decode()
    assert "Nothing to go by yet" in page
    assert "No sign of it" not in page
    judged = campaign_of(1, 24, 2)
    import_judgements(campaign=judged, rows=rows_of(judged, "ss dd " * 12))
    page = admin.get(url("quality", judged)).content.decode()
    assert "none answers always the same." in page


def test_gold_comes_from_an_earlier_panel(admin, judged, campaign_of):
    draft = campaign_of(1, 2, 1, is_open=False)
    post(admin, "gold_from_campaign", draft, purpose="gold", source=judged.pk, n=5)
    added = Gold.objects.filter(question__campaign=draft, question__kind=QuestionKind.GOLD)
    assert sorted(added.values_list("answer", flat=True)) == ["different", "similar"]
    page = post(admin, "gold_from_campaign", judged, purpose="gold", source=judged.pk, n=5)
    assert "Select a valid choice" in page


# ---- agreement and adjudication ----
def test_agreement_is_shown_with_the_prevalence(admin, judged):
    page = admin.get(url("agreement", judged)).content.decode()
    for words in (
        "percent agreement",
        "Krippendorff",
        "AC1",
        "Fleiss",
        "of all votes are",
        "Cohen",
    ):
        assert words in page


@pytest.mark.django_db(transaction=True)
def test_the_comparison_with_voter_models_runs_as_a_job(admin, judged):
    post(admin, "compare", judged)
    job = Job.objects.get(task=TASK)
    assert "already queued" in post(admin, "compare", judged)
    compare_voter_models(str(job.uid))
    compare_voter_models(str(job.uid))
    job.refresh_from_db()
    assert job.state == "succeeded", job.error
    assert job.result["n_pairs"] == 5
    assert [row["model"] for row in job.result["models"]] == ["dawid-skene", "glad", "mace"]
    assert "Dawid-Skene</th>" in admin.get(url("agreement", judged)).content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_comparison_of_nothing_fails_with_a_reason(admin, campaign):
    post(admin, "compare", campaign)
    job = Job.objects.get(task=TASK)
    compare_voter_models(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "There is no vote yet.")


def test_contested_pairs_are_ruled_on_one_by_one_without_names(admin, judged):
    page = admin.get(url("adjudication", judged)).content.decode()
    assert "Pair 1 of 4" in page
    assert all(member.annotator.username not in page for member in judged.panel.all())
    case = page.split('name="question" value="')[1].split('"')[0]
    assert "Say why" in post(admin, "rule", judged, question=case, answer="similar", reason="")
    page = post(admin, "rule", judged, question=case, answer="similar", reason="Same <b>seam</b>")
    assert "Pair 1 of 3" in page
    assert "Same &lt;b&gt;seam" in page
    assert Adjudication.objects.get().decided_by == person_of(admin)
    gold = post(admin, "ruling_to_gold", judged, case, use=f"{judged.slug}:example")
    assert "is gold of" in gold
    known = Gold.objects.get(source="ruling")
    assert (known.answer, known.why, known.question.kind) == (
        "similar", "Same <b>seam</b>", "example"
    )  # fmt: skip
    again = post(admin, "ruling_to_gold", judged, case, use=f"{judged.slug}:example")
    assert "is that already" in again
    refused = post(admin, "ruling_to_gold", judged, case, use=f"{judged.slug}:gold")
    assert "serves one purpose" in refused
    post(admin, "withdraw", judged, case)
    assert not Adjudication.objects.exists()


@pytest.mark.parametrize(
    "query", ["skip=2", "skip=99", "skip=-1", "skip=x", "only=undecided", "only=x"]
)
def test_the_adjudication_page_bears_any_address(query, admin, judged):
    assert admin.get(url("adjudication", judged) + "?" + query).status_code == 200


def test_a_ruling_leads_back_to_the_same_place(admin, judged):
    page = admin.get(url("adjudication", judged) + "?skip=2&only=").content.decode()
    case = page.split('name="question" value="')[1].split('"')[0]
    assert '<input type="hidden" name="skip" value="2">' in page
    ruling = {"question": case, "answer": "similar", "reason": "x", "skip": "2"}
    reply = admin.post(url("rule", judged), {**ruling, "only": "undecided"})
    assert reply["Location"] == url("adjudication", judged) + "?skip=2&only=undecided#ruling"
    for wrong in ({"skip": "-1"}, {"only": "//evil.example"}, {"skip": "x", "page": "0"}):
        reply = admin.post(url("rule", judged), {**ruling, "skip": "", **wrong})
        assert reply["Location"].removesuffix("#ruling") == url("adjudication", judged)
    refused = admin.post(url("rule", judged), {**ruling, "answer": "perhaps", "skip": "1"})
    # the reason stands at the top of the page
    assert refused["Location"] == url("adjudication", judged) + "?skip=1"
    reply = admin.post(url("withdraw", judged, case), {"skip": "1", "page": "2"})
    assert reply["Location"] == url("adjudication", judged) + "?skip=1&page=2"


def test_the_last_ruling_is_taken_back_from_where_it_was_made(admin, judged):
    case = admin.get(url("adjudication", judged)).context["case"].question.uid
    page = post(admin, "rule", judged, question=case, answer="similar", reason="x")
    assert 'form="take-back">Take back</button>' in page
    assert f'<form id="take-back" method="post" action="{url("withdraw", judged, case)}"' in page
    reply = admin.post(url("withdraw", judged, case), {"is_last": "yes"})
    assert reply["Location"] == url("adjudication", judged) + "#ruling"
    assert not Adjudication.objects.exists()
    other = Client()
    other.force_login(User.objects.create_user("eve", role=Role.ADMIN))
    post(other, "rule", judged, question=case, answer="similar", reason="x")
    assert 'id="take-back"' not in admin.get(url("adjudication", judged)).content.decode()


def test_every_ruling_can_be_taken_back(admin, campaign_of):
    campaign = campaign_of(1, 35, 2)
    for question in campaign.questions.all():
        Adjudication.objects.create(question=question, answer="similar", reason="seen")
    pages = [admin.get(url("adjudication", campaign), {"page": n}).content.decode() for n in (1, 2)]
    found = [set(re.findall(r"adjudication/([0-9a-f-]{36})/withdraw", page)) for page in pages]
    assert [len(one) for one in found] == [30, 5]
    assert {str(uid) for uid in campaign.questions.values_list("uid", flat=True)} == set.union(
        *found
    )


def test_judges_learn_nothing_of_the_panel_that_agreed(admin, judged, campaign_of):
    draft = campaign_of(1, 2, 1, is_open=False)
    given = {"purpose": "example", "source": judged.pk, "n": 5}
    assert "Say why" in post(admin, "gold_from_campaign", draft, **given)
    post(admin, "gold_from_campaign", draft, why="The seams decide.", **given)
    assert set(Gold.objects.values_list("why", flat=True)) == {"The seams decide."}
    other = campaign_of(1, 2, 1, is_open=False)
    assert "has no other pair" in post(
        admin, "gold_from_campaign", draft, **{**given, "purpose": "gold"}
    )
    post(admin, "gold_from_campaign", other, **{**given, "purpose": "gold"})
    told = Gold.objects.filter(question__kind="gold").values_list("why", flat=True)
    assert set(told) == {""}


def test_a_foreign_question_gets_no_ruling(admin, judged, campaign_of):
    foreign = campaign_of(1, 1).questions.get()
    page = post(admin, "rule", judged, question=foreign.uid, answer="similar", reason="x")
    assert "no such question" in page
    assert not Adjudication.objects.exists()
