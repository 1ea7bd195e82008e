"""Every vote of a campaign leaves for Label Studio or FiftyOne and comes back as it was."""

from __future__ import annotations

import json
import unicodedata
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.models import User
from annotation.models import Adjudication, Campaign, Comment, Guideline, Judgement, Question
from annotation.queries.labels import labels
from annotation.services import create_campaign, exclude_answers, open_campaign
from annotation.services.imports import ImportedJudgement, import_judgements
from catalog.models import SourceFile
from evaluation.answer_exports import campaign_answers, export_names
from lookalike.agreement.grades import Scale
from lookalike.io.errors import InputError
from lookalike.io.pair_answers import PairAnswer
from lookalike.io.repeats import Repeats
from lookalike.io.vote_options import VoteOptions
from lookalike.release.errors import ReleaseError
from releases.importing.release import import_any
from tests.worlds import World, build_world

pytestmark = pytest.mark.django_db
HARD_NAMES = [
    "H&M/a.jpg",
    "a#1.jpg",
    "what?.jpg",
    "a%5Cb.jpg",
    "100% wool.jpg",
    "a+b.jpg",
    unicodedata.normalize("NFD", "crème/Ünder.jpg"),
    "写真/靴.jpg",
    "'=1+1.jpg",
    'say "cheese".jpg',
]


@pytest.fixture
def open_world(db: None) -> World:
    world = build_world()
    for name, image in zip(HARD_NAMES, world.images, strict=False):
        SourceFile.objects.filter(image=image).update(path=name)
    return world


@pytest.fixture(params=["negative", "undecided", "graded"])
def campaign(request: pytest.FixtureRequest, open_world: World) -> Campaign:
    """Five judges with every kind of answer, repeats, exclusions, rulings and comments."""
    scale = Scale(("No", "A little", "Très; “so”"), 2) if request.param == "graded" else None
    rng = np.random.default_rng(3)
    panel = open_world.judges + [User.objects.create_user(f"more-{n}") for n in range(2)]
    rows = [image.pk for image in open_world.images]
    pairs = [(rows[q], rows[c]) for q in range(4) for c in range(30) if q != c][::3]
    campaign = open_campaign(
        campaign=create_campaign(
            name="Odd",
            slug="odd",
            pairs=pairs,
            panel=panel,
            scale=scale,
            tie_rule="undecided" if request.param == "undecided" else "negative",
        )
    )
    Guideline.objects.create(campaign=campaign, version=2, text="Second")
    said = list(scale.answers) if scale else ["similar", "different"]
    given = []
    for query, candidate in pairs[:-2]:  # two that nobody judged
        for judge in panel:
            word = str(rng.choice([*said, *said, "cant_tell", "skip", ""]))
            if not word:
                continue
            reason = str(rng.choice(["", "bad_image"])) if word == "skip" else ""
            one = ImportedJudgement(
                query,
                candidate,
                judge.pk,
                word,
                reason,
                decided_at=datetime(2026, 3, 1, int(rng.integers(24)), 30, tzinfo=UTC),
                visible_ms=int(rng.integers(9000)),
                guideline_version=int(rng.integers(1, 3)),
            )
            given.append(one)
            if rng.random() < 0.2:
                again = str(rng.choice(said))
                kind = str(rng.choice(["repeat", "mirror"]))
                shown = (candidate, query) if kind == "mirror" else (query, candidate)
                given.append(
                    one._replace(
                        query_id=shown[0], candidate_id=shown[1], answer=again, reason="", kind=kind
                    )
                )
    import_judgements(campaign=campaign, rows=given)
    held = Judgement.objects.filter(question__campaign=campaign, is_counted=True)
    events = list(held.order_by("pk").values_list("event__uuid", flat=True))
    exclude_answers(campaign=campaign, events=events[:5], reason="r", by=None)
    questions = list(Question.objects.filter(campaign=campaign, kind="pair").order_by("pk"))
    for question in questions[:3]:
        Adjudication.objects.create(question=question, answer=said[0], reason="r")
    for judgement in held.order_by("pk")[3:9]:
        for text in ("“Odd”\n\t; 写 \u2028'=", "second"):
            Comment.objects.create(
                uuid=uuid.uuid4(),
                question_id=judgement.question_id,
                member_id=judgement.member_id,
                text=text,
                guideline_version=1,
                made_at=timezone.now(),
            )
    return campaign


def with_names_of(campaign: Campaign, slug: str = "") -> Iterator[PairAnswer]:
    """Yield the answers of a campaign under the names that its judges have in an import."""
    of_pair: dict[str, str] = {}
    exported = campaign_answers(campaign, with_comments=True)
    if slug:
        people = [*campaign.panel.values_list("annotator_id", flat=True)]
        held = Judgement.objects.filter(question__campaign=campaign)
        used = set(held.values_list("member__annotator_id", flat=True)) & set(people)
        names = User.objects.in_bulk(used)
        of_pair = {
            pseudonym: names[pk].username.removeprefix(f"{slug}-")
            for pk, pseudonym in export_names(campaign, used).items()
        }
    for one in exported.answers:
        yield replace(one, judge=of_pair.get(one.judge, one.judge))


def by_key(answers: Iterator[PairAnswer]) -> list[PairAnswer]:
    return sorted(answers, key=lambda a: (a.query, a.candidate, a.judge, a.kind))


@pytest.mark.parametrize("name", ["label-studio", "fiftyone"])
def test_every_vote_comes_back_field_by_field(
    campaign: Campaign, open_world: World, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "samples.json"
    call_command("export_labels", "odd", str(path), format=name, comments=True)
    [again] = import_any(source=path, slug="again", catalog=open_world.catalog).campaigns
    before, after = by_key(with_names_of(campaign)), by_key(with_names_of(again, "again"))
    assert len(before) > 150
    assert {one.kind for one in before} == {"pair", "repeat", "mirror", "ruling"}
    assert {one.answer for one in before} == {"similar", "different", "cant_tell", "skip"}
    assert sum(len(one.comments) for one in before) == 12
    assert before == after
    assert (again.tie_rule, again.grades, again.similar_from) == (
        campaign.tie_rule,
        campaign.grades,
        campaign.similar_from,
    )
    one, two = labels(campaign), labels(again)
    for column in ("n_similar", "n_different", "is_similar", "is_decided", "is_ruled"):
        assert (getattr(one, column) == getattr(two, column)).all(), column


def test_comments_leave_only_where_they_are_asked_for(campaign: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    call_command("export_labels", "odd", str(path), format="label-studio")
    assert "“Odd”" not in path.read_text()
    assert not any(user.username in path.read_text() for user in User.objects.all())
    with pytest.raises(CommandError, match="comments"):
        call_command("export_labels", "odd", str(path), format="csv", comments=True)


def test_an_export_of_label_studio_with_several_users_and_controls(
    open_world: World, tmp_path: Path
) -> None:
    def annotation(user: int, **words: str) -> dict[str, object]:
        return {
            "completed_by": user,
            "updated_at": f"2026-01-0{user}T10:00:00Z",
            "result": [
                {"from_name": name, "to_name": "query", "value": {"choices": [word]}}
                for name, word in words.items()
            ],
        }

    first = annotation(1, similarity="similar", same_brand="no")
    second = annotation(2, similarity="different", same_brand="no")
    changed = annotation(2, similarity="similar", same_brand="yes")
    task = {
        "data": {"query": "/data/local-files/?d=H%26M/a.jpg", "candidate": "a#1.jpg"},
        "annotations": [first, second],
    }
    path = tmp_path / "x.json"

    def imported(slug: str, *annotations: object, **options: object) -> list[tuple[str, str]]:
        path.write_text(json.dumps([task | {"annotations": annotations}]))
        made = import_any(
            source=path,
            slug=slug,
            catalog=open_world.catalog,
            options=VoteOptions(**options),  # type: ignore[arg-type]
        )
        held = Judgement.objects.filter(question__campaign=made.campaigns[0])
        return sorted(held.values_list("member__annotator__username", "answer"))

    with pytest.raises(InputError, match="--control"):
        imported("none", first, second)
    assert imported("two", first, second, control="similarity") == [
        ("two-1", "similar"),
        ("two-2", "different"),
    ]
    with pytest.raises(InputError, match="--repeats"):
        imported("none", first, second, changed, control="similarity")
    last = imported("last", first, second, changed, control="similarity", repeats=Repeats.LAST)
    assert last == [("last-1", "similar"), ("last-2", "similar")]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"decided_at": "yesterday"}, 2),
        ({"visible_ms": -1}, 2),
        ({"reason": "bored"}, 2),
        ({"guideline_version": 0}, 2),
        ({"grade": 1}, 2),
        ({"comments": ["x" * 1001]}, 2),
        ({"comments": ["nul \0"]}, 2),
    ],
)
def test_an_answer_that_cannot_be_stored_is_named_and_nothing_is_made(
    open_world: World, tmp_path: Path, change: dict[str, object], line: int
) -> None:
    vote = {"_cls": "Classification", "label": "similar", "judge": "a01", **change}
    sample = {
        "filepath": "a#1.jpg",
        "query": "H&M/a.jpg",
        "votes": {"_cls": "Classifications", "classifications": [vote]},
    }
    path = tmp_path / "samples.json"
    path.write_text('{"samples": [\n' + json.dumps(sample) + "\n]}")
    with pytest.raises(ReleaseError, match=rf"samples\.json, line {line}: "):
        import_any(source=path, slug="bad", catalog=open_world.catalog)
    assert not Campaign.objects.filter(slug="bad").exists()
    assert not User.objects.filter(username__startswith="bad-").exists()


def test_a_table_of_votes_keeps_its_judges(open_world: World, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "query,candidate,annotator,value\nH&M/a.jpg,a#1.jpg,ada,1\nH&M/a.jpg,a#1.jpg,bob,0\n"
        "H&M/a.jpg,what?.jpg,ada,1.0\n"
    )
    made = import_any(source=path, slug="t", catalog=open_world.catalog)
    assert made.n_judgements == 3
    [campaign] = made.campaigns
    votes = [(one.n_similar, one.n_different) for one in labels(campaign)]
    assert sorted(votes) == [(1, 0), (1, 1)]
