"""What judges ask while they judge: it arrives once, blind, and its reply comes before the next."""

from __future__ import annotations

import json
import uuid
from html import unescape

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import Comment, Exclusion, GuidelineReading, PanelMember
from annotation.services import publish_guidelines, reply_to_comment, set_member_active
from annotation.services.guidelines import text_digest
from audit.models import Entry
from catalog.models import SourceFile
from notices.sources import attention_lines
from tests.annotation.blind_world import ask_triplets
from tests.clients import START, Browser, answer_to, signed_in, uid_of

pytestmark = pytest.mark.django_db


def comment_on(question: str, text: str = "Is a hood part of the cut?", **changes):
    return {
        "uuid": str(uuid.uuid4()), "question": question, "comment": text,
        "made_at": START.isoformat(), "withdraws": None,
    } | changes  # fmt: skip


def post(judge: Browser, name: str, body: object):
    reply = judge.client.post(judge.url(name), json.dumps(body), content_type="application/json")
    return reply.status_code, reply.json() if "json" in reply["Content-Type"] else {}


def ask(judge: Browser, *comments):
    return post(judge, "comments", {"comments": list(comments)})


@pytest.fixture
def asked(campaign_of, people):
    """A judge, their first question, and an admin."""
    campaign = campaign_of(2, 6, 2, guidelines="# Same cut")
    judge = Browser(campaign, campaign.panel.get(number=1).annotator)
    return judge, judge.next()[0]["uid"], people(1, Role.ADMIN)[0]


def reply(campaign, admin, text="No.", **more):
    [comment] = Comment.objects.filter(question__campaign=campaign, withdrawn_at=None)
    return reply_to_comment(campaign=campaign, comment=comment.uuid, reply=text, by=admin, **more)


def test_a_comment_is_stored_once_and_can_be_taken_back_until_it_is_answered(asked):
    judge, question, admin = asked
    sent = comment_on(question)
    assert ask(judge, sent)[1]["results"][0]["status"] == "saved"
    assert ask(judge, sent)[1]["results"][0]["status"] == "duplicate"
    changed = ask(judge, {**sent, "comment": "Something else"})
    assert (changed[0], changed[1]["results"][0]["code"]) == (422, "uuid_reused")
    back = comment_on(question, "", withdraws=sent["uuid"])
    assert ask(judge, back)[1]["results"][0]["status"] == "saved"
    assert ask(judge, back)[1]["results"][0]["status"] == "duplicate"
    assert ask(judge, sent)[1]["results"][0]["status"] == "duplicate"  # and stays taken back
    assert Comment.objects.get().withdrawn_at is not None
    ask(judge, flag := comment_on(question, ""))
    reply(judge.campaign, admin)
    refused = ask(judge, comment_on(question, "", withdraws=flag["uuid"]))
    assert "replied to it already" in refused[1]["results"][0]["message"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"comment": "x" * 10_000}, "too_long"),
        ({"comment": None}, "bad_value"),
        ({"comment": "a\x00b"}, "bad_value"),
        ({"comment": "half a \ud83d"}, "bad_value"),
        ({"made_at": "yesterday"}, "bad_value"),
        ({"question": str(uuid.uuid4())}, "not_served"),
        ({"withdraws": str(uuid.uuid4())}, "not_current"),
    ],
)
def test_what_is_no_comment_is_refused_by_name_and_the_others_are_kept(asked, changes, code):
    judge, question, _ = asked
    status, told = ask(judge, comment_on(question) | changes, comment_on(question, "Fine"))
    assert (status, told["results"][0]["code"]) == (200, code)
    if code == "too_long":
        assert told["results"][0]["message"] == (
            "A comment has at most 1,000 characters; this one has 10,000."
        )
    assert Comment.objects.get().text == "Fine"


@pytest.mark.parametrize(
    "body", [[], {"comments": []}, {"comments": [1]}, {"comments": [{}] * 201}]
)
def test_a_body_that_is_none_is_refused_whole(asked, body):
    judge, _, _ = asked
    assert post(judge, "comments", body)[0] == 400


def test_no_other_judge_learns_of_a_comment_or_can_take_it_back(asked):
    judge, question, admin = asked
    other = Browser(judge.campaign, judge.campaign.panel.get(number=2).annotator)
    ask(judge, sent := comment_on(question, "secret-comment"))
    known = uid_of(judge.campaign, question)
    refused = ask(other, comment_on(known, "", withdraws=sent["uuid"]))
    assert refused[1]["results"][0]["code"] == "not_current"
    refused = ask(other, comment_on(question, "", withdraws=sent["uuid"]))
    assert refused[1]["results"][0]["code"] == "not_served"  # another judge's name for it
    [line] = [line for line in attention_lines() if line.kind == "Questions"]
    assert "secret" not in line.text  # it is mailed and posted to webhooks
    reply(judge.campaign, admin, "secret-reply")
    assert other.get("replies") == {"replies": []}
    assert other.get("next")["n_replies"] == 0
    pages = [reverse("annotation:inbox"), reverse("annotation:home"), other.url("judge")]
    for address in (*pages, other.url("recent"), other.url("guidelines")):
        content = other.client.get(address).content.decode()
        assert "secret-comment" not in content
        assert "secret-reply" not in content
    post(other, "replies_seen", {"seen": [sent["uuid"]]})
    assert Comment.objects.get().seen_at is None
    slug = judge.campaign.slug
    address = reverse("annotation:question", args=[slug, sent["uuid"]])
    assert other.client.get(address).status_code == 403
    assert not [line for line in attention_lines() if line.kind == "Questions"]


def test_the_reply_comes_with_the_next_answer_and_is_seen_once(asked):
    judge, question, admin = asked
    ask(judge, comment_on(question))
    assert judge.send(answer_to(question))[1]["n_replies"] == 0
    reply(judge.campaign, admin, "A hood does not count.")
    judge.judge()
    assert judge.get("next")["n_replies"] == 1
    [told] = judge.get("replies")["replies"]
    assert (told["comment"], told["reply"]) == (
        "Is a hood part of the cut?", "A hood does not count.",
    )  # fmt: skip
    assert told["question"]["uid"] == question
    assert admin.username not in json.dumps(told)
    assert post(judge, "replies_seen", {"seen": [told["uuid"]]}) == (200, {"n_replies": 0})
    assert judge.get("next")["n_replies"] == 0
    inbox = judge.client.get(reverse("annotation:inbox")).content.decode()
    assert "A hood does not count." in inbox
    assert Entry.objects.filter(action="comment_answered").count() == 1


def test_a_reply_becomes_guidelines_that_everybody_reads_before_the_next_question(asked):
    judge, question, admin = asked
    other = Browser(judge.campaign, judge.campaign.panel.get(number=2).annotator)
    ahead = [one["uid"] for one in judge.next(5)]
    ask(judge, comment_on(question))
    text = "# Same cut\n\nA hood does not count."
    made = reply(judge.campaign, admin, "See the new rule.", guidelines=text)
    assert made.new_version == 2
    for one in (judge, other):
        told = one.get("next")
        assert (told["must_read"], told["questions"]) == (True, [])
    # what was on its way is kept, under the version that had been read
    status, told = judge.send(answer_to(question))
    assert (status, told["must_read"]) == (200, True)
    status, told = judge.send(answer_to(ahead[1], guideline_version=2))
    assert (status, "not read" in told["results"][0]["message"]) == (422, True)
    guidelines = judge.get("guidelines")
    assert guidelines["version"] == 2
    assert ["+", "A hood does not count."] in guidelines["changes"]
    assert post(judge, "read", {"version": 3})[0] == 400
    assert post(judge, "read", {"version": 2}) == (200, {"read_version": 2})
    post(judge, "read", {"version": 2})
    assert judge.send(answer_to(ahead[1], guideline_version=2))[0] == 200
    assert judge.get("next")["questions"]
    assert other.get("next")["questions"] == []
    assert GuidelineReading.objects.count() == 1
    [entry] = Entry.objects.filter(action="guidelines_read")
    assert (entry.actor_name, entry.details) == (judge.person.username, {"version": 2})
    desk = signed_in(admin)
    page = desk.get(reverse("annotation:edit_guidelines", args=[judge.campaign.slug]))
    assert f"{judge.person.username}: version 2" in page.content.decode()
    assert f"{other.person.username}: not yet" in page.content.decode()


def test_a_refused_rule_leaves_no_reply_and_a_refused_reply_no_rule(asked):
    judge, question, admin = asked
    ask(judge, sent := comment_on(question))
    with pytest.raises(CampaignError, match="in force already"):
        reply(judge.campaign, admin, guidelines="# Same cut")
    assert Comment.objects.get().reply == ""
    Comment.objects.update(withdrawn_at=START)
    with pytest.raises(CampaignError, match="taken the comment back"):
        reply_to_comment(campaign=judge.campaign, comment=uuid.UUID(sent["uuid"]), reply="No.",
                         by=admin, guidelines="# Other")  # fmt: skip
    assert judge.campaign.guidelines.count() == 1


def test_two_admins_who_reply_at_once_lose_nothing(asked, people):
    judge, question, admin = asked
    [bo] = people(1, Role.ADMIN)
    ask(judge, sent := comment_on(question))
    address = reverse("annotation:question", args=[judge.campaign.slug, sent["uuid"]])
    first, second = signed_in(admin), signed_in(bo)
    pages = [client.get(address) for client in (first, second)]
    given = [
        {"reply": text, "last_reply_at": page.context["form"]["last_reply_at"].value(),
         "seen": page.context["form"]["seen"].value(), "text": page.context["in_force"].text}
        for page, text in zip(pages, ("Yes.", "No."), strict=True)
    ]  # fmt: skip
    assert first.post(address, given[0]).status_code == 302
    late = second.post(address, given[1])
    assert late.status_code == 422
    assert f"{admin.username} has replied meanwhile: “Yes.”" in late.content.decode()
    assert late.context["form"]["reply"].value() == "No."
    again = {**given[1], "last_reply_at": late.context["form"]["last_reply_at"].value()}
    assert second.post(address, again).status_code == 302
    assert Comment.objects.get().reply == "No."
    with pytest.raises(ChangedMeanwhileError, match="changed the guidelines meanwhile"):
        publish_guidelines(campaign=judge.campaign, text="Mine", by=bo, seen=text_digest("Older"))
    page = second.post(
        reverse("annotation:save_guidelines", args=[judge.campaign.slug]),
        {"text": "Mine", "seen": text_digest("Older")},
    )
    assert page.status_code == 422
    assert "Your text is kept below" in page.content.decode()
    assert page.context["form"]["text"].value() == "Mine"


def test_the_admin_sees_the_question_in_the_judges_blind_view(asked):
    judge, question, admin = asked
    ask(judge, sent := comment_on(question))
    desk, slug = signed_in(admin), judge.campaign.slug
    page = desk.get(reverse("annotation:question", args=[slug, sent["uuid"]])).content.decode()
    assert "Is a hood part of the cut?" in page
    for state, judge_number, n in (("", 1, 1), ("open", 2, 0), ("answered", "", 0), ("all", "", 1)):
        found = desk.get(
            reverse("annotation:questions", args=[slug]),
            {"state": state, "judge": str(judge_number)},
        )
        assert len(found.context["page"].object_list) == n


def test_a_judge_who_is_removed_while_an_admin_answers_still_reads_it(asked):
    judge, question, admin = asked
    ask(judge, comment_on(question))
    set_member_active(member=PanelMember.objects.get(annotator=judge.person), is_active=False)
    reply(judge.campaign, admin, "Thank you.")
    assert ask(judge, comment_on(question))[0] == 404
    inbox = judge.client.get(reverse("annotation:inbox"))
    assert "Thank you." in inbox.content.decode()


def test_earlier_answers_that_a_rule_changes_are_asked_again_and_that_can_be_undone(asked):
    judge, question, admin = asked
    judge.judge("similar", 8)
    publish_guidelines(campaign=judge.campaign, text="# New", by=admin)
    post(judge, "read", {"version": 2})
    later = judge.next(1)[0]["uid"]
    judge.send(answer_to(later, guideline_version=2))
    desk, slug = signed_in(admin), judge.campaign.slug
    uid = judge.campaign.questions.get(uid=uid_of(judge.campaign, question)).query.uid
    listed = desk.get(
        reverse("annotation:answers_given", args=[slug]), {"version": "2", "query": str(uid)}
    )
    n = len(listed.context["rows"])
    assert 0 < n < 8
    assert all(row.query.uid == uid for row in listed.context["rows"])
    change = reverse("annotation:change_answers", args=[slug])
    told = desk.post(change, {"every": "yes", "query": "version=2", "do": "ask_again",
                              "reason": "new rule"}, follow=True)  # fmt: skip
    assert "8 answers excluded and asked again" in told.content.decode()
    assert {x.event.guideline_version for x in Exclusion.objects.all()} == {1}
    member = PanelMember.objects.get(annotator=judge.person)
    assert member.n_done == 1
    events = [str(x.event.uuid) for x in Exclusion.objects.all()]
    desk.post(change, {"answers": events, "do": "count"})
    member.refresh_from_db()
    assert member.n_done == 9


def test_guidelines_show_pictures_of_the_catalog_at_addresses_of_the_campaign(asked):
    judge, _, admin = asked
    image = judge.campaign.questions.first().query
    stranger = judge.campaign.questions.exclude(query=image).first().query
    SourceFile.objects.create(catalog=image.catalog, image=image, path="some coats/1.jpg")
    with pytest.raises(CampaignError, match=r"line 3: 'coats/none\.jpg' is no image"):
        publish_guidelines(campaign=judge.campaign, text="a\n\n![x](coats/none.jpg)", by=admin)
    with pytest.raises(CampaignError, match=r"evil\.example"):
        publish_guidelines(campaign=judge.campaign, text="![x](https://evil.example/a)", by=admin)
    desk = signed_in(admin)
    half = {"text": "![a hood](<some coats/1.jpg>)\n\n![x](coats/none.jpg)"}
    for page, status in (("preview", 200), ("save_guidelines", 422)):
        reply = desk.post(reverse(f"annotation:{page}", args=[judge.campaign.slug]), half)
        assert reply.status_code == status
        told = unescape(reply.content.decode())
        assert "line 3: 'coats/none.jpg' is no image" in told
        assert f"/{image.uid}/" in reply.content.decode(), "the picture that is known is shown"
    publish_guidelines(
        campaign=judge.campaign, text="Like ![a hood](<some coats/1.jpg>).", by=admin
    )
    html = judge.get("guidelines")["html"]
    assert 'alt="a hood"' in html
    assert f"/judge/{judge.campaign.uid}/images/" in html
    assert "coats/1" not in html
    assert str(image.uid) not in html
    assert stranger is not None


def test_a_choice_is_asked_about_in_the_order_in_which_its_judge_saw_it(pairs, people):
    campaign, judge = ask_triplets(pairs, people)
    browser = Browser(campaign, judge)
    question = browser.next()[0]
    sent = comment_on(question["uid"])
    assert ask(browser, sent)[1]["results"][0]["status"] == "saved"
    [admin] = people(1, Role.ADMIN)
    desk = signed_in(admin)
    page = desk.get(reverse("annotation:question", args=[campaign.slug, sent["uuid"]]))
    assert page.status_code == 200
    assert list(page.context["slots"]) == [1, 2]
    reply(campaign, admin)
    [told] = browser.get("replies")["replies"]
    assert told["question"]["images"] == question["images"]
    assert browser.client.get(reverse("annotation:inbox")).status_code == 200
