import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import JudgementEvent
from annotation.queries.labels import labels
from annotation.services import create_campaign, open_campaign
from catalog.models import SourceFile

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(campaign_of):
    campaign = campaign_of(1, 2, 2)
    for question in campaign.questions.all():
        for image, name in ((question.query, "query"), (question.candidate, question.position)):
            SourceFile.objects.get_or_create(
                catalog=image.catalog, image=image, path=f"shop/{name}.jpg"
            )
    return campaign


def run(campaign, path, *options):
    out = StringIO()
    call_command("import_judgements", campaign.slug, str(path), *options, stdout=out)
    return out.getvalue()


def write(tmp_path, *rows, header="query,candidate,annotator,answer"):
    path = tmp_path / "judgements.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def names(campaign):
    return [user.annotator.username for user in campaign.panel.select_related("annotator")]


def test_judgements_are_found_by_path_uid_and_hash(campaign, tmp_path):
    first, second = names(campaign)
    query = campaign.questions.first().query
    candidates = [question.candidate for question in campaign.questions.order_by("position")]
    path = write(
        tmp_path,
        f"shop/query.jpg,shop/0.jpg,{first},similar",
        f"{query.uid},{candidates[0].uid},{second},different",
        f"{query.sha256},{candidates[1].sha256.upper()},{first},skip",
    )
    assert json.loads(run(campaign, path, "--json")) == {
        "campaign": campaign.slug,
        "imported": 3,
        "unchanged": 0,
    }
    assert [row[2:4] for row in labels(campaign)] == [(1, 1)]
    assert "0 judgements imported, 3 were there already" in run(campaign, path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nowhere.jpg,shop/0.jpg,{judge},similar", "row 3: 'nowhere.jpg'"),
        ("shop/query.jpg,shop/9.jpg,{judge},similar", "row 3: 'shop/9.jpg'"),
        ("shop/0.jpg,shop/query.jpg,{judge},similar", "row 3: 'shop/0.jpg'"),
        ("shop/query.jpg,shop/1.jpg,nobody,similar", "row 3: 'nobody' is not on the panel"),
        ("shop/query.jpg,shop/1.jpg,{judge},maybe", "row 3: the answer “maybe” is none of"),
        ("shop/query.jpg,shop/0.jpg,{judge},similar", "row 3: the annotator has judged this pair"),
        ("shop/query.jpg,shop/1.jpg,{judge},", "row 3: answer is empty"),
        ("shop/query.jpg,shop/1.jpg", "row 3 has 2 fields"),
    ],
)
def test_a_bad_row_is_named_and_nothing_goes_in(row, message, campaign, tmp_path):
    judge = names(campaign)[0]
    path = write(tmp_path, f"shop/query.jpg,shop/0.jpg,{judge},similar", row.format(judge=judge))
    with pytest.raises(CommandError) as problem:
        run(campaign, path)
    assert str(path) in str(problem.value)
    assert message in str(problem.value)
    assert not JudgementEvent.objects.exists()


def test_a_file_without_judgements_and_an_unknown_campaign_are_errors(campaign, tmp_path):
    with pytest.raises(CommandError, match="there are no judgements"):
        run(campaign, write(tmp_path))
    with pytest.raises(CommandError, match="the column answer is missing"):
        run(campaign, write(tmp_path, header="query,candidate,annotator"))
    with pytest.raises(CommandError, match="There is no campaign “x”"):
        call_command("import_judgements", "x", "y.csv")


def test_a_path_that_two_catalogs_have_is_ambiguous(campaign_of, pairs, people, tmp_path):
    panel = people(1)
    (query, first), (_, second) = pairs(2, 1)[0], pairs(2, 1)[0]
    campaign = create_campaign(
        name="x", slug="x", pairs=[(query, first), (query, second)], panel=panel
    )
    open_campaign(campaign=campaign)
    for question in campaign.questions.all():
        SourceFile.objects.create(
            catalog=question.candidate.catalog, image=question.candidate, path="same.jpg"
        )
    uid = campaign.questions.all()[0].query.uid
    path = write(tmp_path, f"{uid},same.jpg,{panel[0].username},similar")
    with pytest.raises(CommandError, match=r"row 2: 'same\.jpg' fits 2 images"):
        run(campaign, path)
