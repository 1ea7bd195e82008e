"""A campaign's results: the numbers are those of the files, and are stored with their inputs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from sklearn.metrics import roc_auc_score

from accounts.models import Role, User
from annotation.models import Campaign
from evaluation.exports import FORMATS, export_pieces
from evaluation.models import Result
from evaluation.results.assessment import assess
from evaluation.results.inputs import model_family, read_inputs
from lookalike.core.dataclass_json import as_json
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.errors import InputError
from lookalike.io.labels import read_qrels
from lookalike.io.vsd_defects import find_vsd_defects
from lookalike.io.vsd_task import read_vsd_task
from tests.worlds import World, answer_all, same_colour

pytestmark = pytest.mark.django_db


def by_pair(world: World) -> dict[tuple[int, int], int]:
    truth = {image.pk: image for image in world.images}
    pairs = world.campaign.questions.values_list("query_id", "candidate_id")
    return {(q, c): int(same_colour(truth[q], truth[c])) for q, c in pairs}


def test_macro_auc_equals_scikit_learn_on_the_majority_labels(judged_world: World) -> None:
    found = assess(judged_world.campaign, n_bootstraps=0)
    row_of = {image.pk: row for row, image in enumerate(judged_world.images)}
    labels = by_pair(judged_world)
    for model in found.summary.as_json()["models"]:
        unit = unit_rows(judged_world.vectors[model["name"]])
        values = []
        for query in {q for q, _ in labels}:
            mine = [(c, y) for (q, c), y in labels.items() if q == query]
            y = [label for _, label in mine]
            if 0 < sum(y) < len(y):
                scores = [float(unit[row_of[query]] @ unit[row_of[c]]) for c, _ in mine]
                values.append(roc_auc_score(y, scores))
        measured = model["measures"]["macro_roc_auc"]
        assert measured["n_defined"] == len(values)
        assert measured["value"] == pytest.approx(np.mean(values), abs=1e-6)


def test_p_at_5_counts_the_unjudged_as_misses_and_leaves_out_the_own_product(
    judged_world: World,
) -> None:
    found = assess(judged_world.campaign, n_bootstraps=0)
    row_of = {image.pk: row for row, image in enumerate(judged_world.images)}
    labels = by_pair(judged_world)
    queries = sorted({q for q, _ in labels})
    for model in found.summary.as_json()["models"]:
        unit = unit_rows(judged_world.vectors[model["name"]])
        values = []
        for query in queries:
            if not any(y for (q, _), y in labels.items() if q == query):
                continue
            own = judged_world.images[row_of[query]]
            others = [i for i in judged_world.images if i.product_id != own.product_id]
            others.sort(key=lambda i: -float(unit[row_of[query]] @ unit[row_of[i.pk]]))
            values.append(sum(labels.get((query, i.pk), 0) for i in others[:5]) / 5)
        assert model["measures"]["P@5"]["value"] == pytest.approx(np.mean(values), abs=1e-9)


def test_where_no_product_is_known_no_number_stands_under_a_vsd_name(
    judged_world: World, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """HR@5 would be P@5 there."""
    judged_world.catalog.images.update(product_id="")
    slug = judged_world.campaign.slug
    call_command("evaluate", slug, bootstraps=0)
    assert "vsd" not in capsys.readouterr().out
    [result] = Result.objects.all()
    assert "vsd" not in json.dumps([result.summary, result.by_query, result.settings])
    client.force_login(User.objects.create_user("rhea", role=Role.RESEARCHER))
    for page in ("", "compare/", "?by=vsd_hr@5", "compare/?measure=vsd_hr@5"):
        shown = client.get(f"/results/{slug}/{page}")
        assert shown.status_code == 200, page
        assert b"VSD HR" not in shown.content, page


def test_pooled_models_and_outsiders_wear_their_badges(judged_world: World) -> None:
    found = assess(judged_world.campaign, n_bootstraps=0)
    badges = {model["name"]: model["badge"] for model in found.summary.as_json()["models"]}
    assert badges == {
        "descriptor:colour-histogram": "pooled",
        "descriptor:hog-shape": "pooled",
        "descriptor:lbp-texture": "outsider",
    }


def test_the_same_labels_give_the_same_result_and_other_labels_another_hash(
    judged_world: World,
) -> None:
    one = assess(judged_world.campaign, n_bootstraps=20)
    two = assess(judged_world.campaign, n_bootstraps=20)
    assert one.inputs == two.inputs
    assert as_json([one.summary, one.report]) == as_json([two.summary, two.report])
    judged_world.campaign.questions.first().judgements.all().delete()  # type: ignore[union-attr]
    assert assess(judged_world.campaign, n_bootstraps=0).inputs["labels"] != one.inputs["labels"]


def test_without_a_judgement_the_message_says_what_is_missing(open_world: World) -> None:
    with pytest.raises(InputError, match=r"no pair of .* has a label yet"):
        read_inputs(open_world.campaign)
    with pytest.raises(CommandError, match=r"no pair of .* has a label yet"):
        call_command("evaluate", open_world.campaign.slug)


def test_an_unknown_campaign_is_named() -> None:
    with pytest.raises(CommandError, match="nowhere"):
        call_command("evaluate", "nowhere")


def test_the_command_stores_a_result_and_prints_one_object(
    judged_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.StringIO()
    call_command("evaluate", judged_world.campaign.slug, json=True, bootstraps=10, stdout=out)
    printed = json.loads(out.getvalue())
    result = Result.objects.get(uid=printed["result"])
    assert printed["labels"]["n_judged"] == judged_world.campaign.n_questions
    assert result.summary["models"] == printed["models"]
    assert set(result.inputs) >= {"labels", "votes", "pool", "model descriptor:hog-shape"}
    assert result.code_version.startswith("0.")


def test_undecided_ties_are_left_out_of_the_labels(open_world: World) -> None:
    answer_all(open_world.campaign, open_world.judges[0], lambda q, c: True)
    answer_all(open_world.campaign, open_world.judges[1], lambda q, c: False)
    assert set(read_inputs(open_world.campaign).qrels.labels.tolist()) == {0}
    Campaign.objects.filter(pk=open_world.campaign.pk).update(tie_rule="undecided")
    with pytest.raises(InputError):
        read_inputs(Campaign.objects.get(pk=open_world.campaign.pk))


@pytest.mark.parametrize("name", ["vsd", "csv", "qrels", "label-studio", "fiftyone"])
def test_every_export_holds_the_same_labels(judged_world: World, name: str, tmp_path: Path) -> None:
    suffix = FORMATS[name].suffix
    out = tmp_path / f"labels.{suffix}"
    call_command("export_labels", judged_world.campaign.slug, str(out), format=name)
    names = {
        image.pk: image.sha256 if name == "qrels" else f"views of/{row}.png"
        for row, image in enumerate(judged_world.images)
    }
    wanted = {(names[q], names[c]): y for (q, c), y in by_pair(judged_world).items()}
    assert {(q, c): y for q, c, y in read_qrels(out)} == wanted


def test_a_campaign_leaves_as_a_vsd_task_without_defects(
    judged_world: World, tmp_path: Path
) -> None:
    out = tmp_path / "task.zip"
    call_command("export_labels", judged_world.campaign.slug, str(out), format="vsd-task")
    task = read_vsd_task(out)
    assert find_vsd_defects(task) == []
    path = {image.pk: f"views of/{row}.png" for row, image in enumerate(judged_world.images)}
    wanted = {(path[q], path[c]): label for (q, c), label in by_pair(judged_world).items()}
    assert {(q, c): label for q, c, label in task.qrels()} == wanted
    assert set(task.gallery()) == set(path.values())
    assert set(task.queries()) == {query for query, _ in wanted}
    assert task.products == {path[image.pk]: image.product_id for image in judged_world.images}


def test_the_csv_shows_the_votes_and_who_judged(judged_world: World) -> None:
    rows = list(
        csv.DictReader(io.StringIO(b"".join(export_pieces(judged_world.campaign, "csv")).decode()))
    )
    assert len(rows) == judged_world.campaign.n_questions
    for row in rows:
        assert {row["n_similar"], row["n_different"]} == {"1", "2"}
        assert row["judges"] == "people"


def test_simulated_judgements_are_marked_in_the_file_s_name_and_rows(
    judged_world: World, client: Client, researcher: User
) -> None:
    Campaign.objects.filter(pk=judged_world.campaign.pk).update(is_simulated=True)
    client.force_login(researcher)
    reply = client.get(f"/results/{judged_world.campaign.slug}/labels/csv/")
    assert "-simulated-" in reply["Content-Disposition"]
    text = b"".join(reply.streaming_content).decode()  # type: ignore[attr-defined]
    assert all(line.endswith(",simulated") for line in text.splitlines()[1:])


def test_a_failed_export_leaves_no_file(open_world: World, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    with pytest.raises(CommandError, match="has a label"):
        call_command("export_labels", open_world.campaign.slug, str(out), format="csv")
    assert list(tmp_path.iterdir()) == []


def test_researchers_see_results_annotators_do_not(
    judged_world: World, client: Client, researcher: User
) -> None:
    call_command("evaluate", judged_world.campaign.slug, json=True, bootstraps=10,
                 stdout=io.StringIO())  # fmt: skip
    url = f"/results/{judged_world.campaign.slug}/"
    assert client.get(url).status_code == 302
    client.force_login(judged_world.judges[0])
    for page in (url, "/results/", f"{url}labels/vsd/"):
        assert client.get(page).status_code == 403
    assert client.post(f"{url}evaluate/").status_code == 403
    client.force_login(researcher)
    page_text = client.get(url).content.decode()
    assert "descriptor:lbp-texture" in page_text
    assert "Leaderboard" in page_text
    assert judged_world.campaign.name in client.get("/results/").content.decode()


def test_an_admin_sees_an_empty_page_before_the_first_evaluation(
    open_world: World, client: Client
) -> None:
    admin = User.objects.create_user("chief", role=Role.ADMIN)
    client.force_login(admin)
    assert (
        "Not evaluated yet" in client.get(f"/results/{open_world.campaign.slug}/").content.decode()
    )
    assert client.get(f"/results/{open_world.campaign.slug}/labels/csv/").status_code == 404


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ("timm:tf_efficientnet_lite0", "timm:tf_efficientnet_lite"),
        ("timm:tf_efficientnet_lite2.in1k", "timm:tf_efficientnet_lite"),
        ("timm:resnet50", "timm:resnet"),
        ("open_clip:ViT-B-32/openai", "open_clip"),
        ("descriptor:hog-shape", "descriptor:hog-shape"),
    ],
)
def test_sizes_of_one_architecture_are_one_family(spec: str, family: str) -> None:
    assert model_family(spec) == family
