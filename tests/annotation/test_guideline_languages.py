"""Guidelines in several languages: each judge reads their own, or is told that there is none."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.models import Role, User
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.queries.guidelines import guideline_in_force
from annotation.services.guidelines import publish_guidelines, text_digest
from tests.clients import PASSWORD, signed_in

ENGLISH, GERMAN = "The same *cut*.", "Der gleiche *Schnitt*."

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(db: None) -> User:
    return User.objects.create_user("ann", password=PASSWORD)


def read(judge: User, campaign, language: str) -> str:
    User.objects.filter(pk=judge.pk).update(language=language)
    browser = signed_in(judge)
    page = browser.get(reverse("annotation:judge", args=[campaign.uid])).text
    reply = browser.get(reverse("annotation:guidelines", args=[campaign.uid])).json()
    assert reply["html"] in page
    return str(reply["html"])


def test_each_judge_reads_their_own_language_and_is_told_where_there_is_none(judge, campaign_of):
    campaign = campaign_of(panel=[judge], guidelines="Old.")
    publish_guidelines(campaign=campaign, text=ENGLISH, by=None, translations={"de": GERMAN})
    assert guideline_in_force(campaign.pk).version == 2  # one version, whatever the languages
    assert "Der gleiche <em>Schnitt</em>" in read(judge, campaign, "de")
    spanish = read(judge, campaign, "es")
    assert "No hay texto en su idioma; este está en: Inglés" in spanish
    assert '<div lang="en"><p>The same <em>cut</em>' in spanish
    assert "There is no text" not in read(judge, campaign, "en")


def test_a_campaign_may_be_written_in_another_language_than_english(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    publish_guidelines(campaign=campaign, text=GERMAN, by=None, language="de")
    assert "There is no text in your language; this one is in: German" in read(
        judge, campaign, "en"
    )
    assert "gibt es keinen Text" not in read(judge, campaign, "de")
    publish_guidelines(campaign=campaign, text="Mehr.", by=None)
    assert guideline_in_force(campaign.pk).language == "de"


def test_no_translation_of_an_older_text_is_read(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    publish_guidelines(campaign=campaign, text=ENGLISH, by=None, translations={"de": GERMAN})
    publish_guidelines(campaign=campaign, text="Another rule.", by=None)
    assert "Another rule." in read(judge, campaign, "de")
    assert "Schnitt" not in read(judge, campaign, "de")


def test_what_has_changed_is_told_in_the_judges_language(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    publish_guidelines(campaign=campaign, text=ENGLISH, by=None, translations={"de": GERMAN})
    judge.memberships.update(read_version=2)
    after = {"de": f"{GERMAN}\n\nNeu."}
    publish_guidelines(campaign=campaign, text=f"{ENGLISH}\n\nNew.", by=None, translations=after)
    User.objects.filter(pk=judge.pk).update(language="de")
    reply = signed_in(judge).get(reverse("annotation:guidelines", args=[campaign.uid])).json()
    assert ["+", "Neu."] in [list(line) for line in reply["changes"]]
    assert "New." not in str(reply["changes"])


@pytest.mark.parametrize(
    ("text", "given", "words"),
    [
        (ENGLISH, {"en": "Again"}, "leave its translation empty"),
        ("", {"de": GERMAN}, "Write the main text first"),
        (ENGLISH, {"de": "x" * 100_001}, "at most 100,000"),
        (ENGLISH, {"de": "![x](<nothing.jpg>)"}, "nothing.jpg"),
    ],
)
def test_translations_that_cannot_be_are_refused(judge, campaign_of, text, given, words):
    campaign = campaign_of(panel=[judge], guidelines="Old.")
    with pytest.raises(CampaignError, match=words):
        publish_guidelines(campaign=campaign, text=text, by=None, translations=given)
    assert guideline_in_force(campaign.pk).text == "Old."


def test_two_admins_do_not_overwrite_each_others_translation(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    publish_guidelines(campaign=campaign, text=ENGLISH, by=None)
    seen = text_digest(ENGLISH)
    publish_guidelines(campaign=campaign, text=ENGLISH, by=None, translations={"de": GERMAN})
    with pytest.raises(ChangedMeanwhileError):
        publish_guidelines(
            campaign=campaign, text=ENGLISH, by=None, seen=seen, translations={"es": "Otro."}
        )
    assert guideline_in_force(campaign.pk).translations == {"de": GERMAN}


def test_an_admin_writes_them_on_the_page(judge, campaign_of):
    campaign = campaign_of(panel=[judge])
    admin = signed_in(User.objects.create_user("ada", password=PASSWORD, role=Role.ADMIN))
    page = reverse("annotation:edit_guidelines", args=[campaign.slug])
    assert "A judge reads the text of their language" in admin.get(page).text
    save = reverse("annotation:save_guidelines", args=[campaign.slug])
    data = {"text": ENGLISH, "language": "en", "text_de": GERMAN, "text_es": " ", "text_en": ""}
    assert admin.post(save, data).status_code == 302
    assert guideline_in_force(campaign.pk).translations == {"de": GERMAN}
    shown = admin.get(page).text
    assert shown.count("Der gleiche *Schnitt*.") == 2  # to be changed, and among the versions
    reply = admin.post(save, data | {"text_en": "Twice", "text": "x"})
    assert reply.status_code == 422
    assert "leave its translation empty" in reply.text
    assert "Der gleiche *Schnitt*." in reply.text
