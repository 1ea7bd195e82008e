"""Submissions: scored from the release's files, private until published, limited, no leaks."""

from __future__ import annotations

import gzip
import io
import json
from datetime import timedelta
from html import unescape
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import Campaign
from evaluation.runs.upload_files import kept_path
from jobs.models import Job
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.cli.main import main
from lookalike.io.errors import InputError
from lookalike.metrics.leaderboard import Cell
from lookalike.metrics.match import Missing
from lookalike.metrics.measures import NEGATIVE_AREAS
from lookalike.release.opened import open_release
from releases.models import Release, Submission
from releases.site.leaderboard import leaderboard
from releases.site.queries import SCORE_TASK, quota
from releases.storage import archive_path, files_folder
from releases.submissions.services import QuotaError, delete, publish, submit
from releases.tasks import score
from tests.lookalike.release.scored_by_hand import equal_outsider_auc, measures, run_of
from tests.worlds import SPECS, World, freeze_now, request_for

BASE = "/releases/small/1.0.0/"


def rest() -> None:
    """Let the pause between two submissions pass."""
    Job.objects.filter(task=SCORE_TASK).update(created_at=timezone.now() - timedelta(minutes=5))


def give(  # noqa: PLR0917
    release: Release,
    owner: User,
    content: bytes,
    file_name: str,
    name: str = "mine",
    missing: Missing = "error",
) -> Submission:
    rest()
    file = SimpleUploadedFile(file_name, content)
    submission = submit(release=release, owner=owner, name=name, file=file, missing=missing)
    assert submission.job is not None
    score(str(submission.job.uid))
    score(str(submission.job.uid))
    submission.refresh_from_db()
    return submission


def test_command_python_page_api_and_hand_give_the_numbers_of_the_board(
    release: Release, researcher: User, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = Client()
    reader.force_login(researcher)
    folder = files_folder(release)
    results = {one["id"]: one["measures"] for one in release.results["models"]}
    evaluated = release_campaign(release)
    for model in release.entrants[:2]:
        path = folder / f"runs/{model['id']}.parquet"
        name = f"again {model['id']}"
        found = give(release, researcher, path.read_bytes(), "run.parquet", name)
        assert found.coverage["n_scored"] == found.coverage["n_pairs"]
        words = ["score", "--release", archive_path(release), "--run", path, "--json"]
        assert main([str(word) for word in words]) == 0
        printed = json.loads(capsys.readouterr().out)["runs"][0]["measures"]
        [scored] = open_release(folder).score(path)
        served = reader.get(f"/api/v1/submissions/{found.uid}").json()["results"]
        page = reader.get(BASE)
        board = page.context["board"]
        [line] = [line for line in board.lines if line.model.name == name]
        by_page = {
            column.name: cell.value for column, cell in zip(board.columns, line.cells, strict=True)
        }
        by_hand = measures(folder, run_of(path))
        assert by_hand.keys() & by_page.keys()
        for measure, expected in results[model["id"]].items():
            wanted = pytest.approx(expected["value"], abs=1e-9)
            ways = [printed[measure], served[measure], found.results[measure]]
            ways.append({"value": scored.outcomes[measure].value})
            ways.append(evaluated[model["name"]][measure])
            ways += [{"value": of[measure]} for of in (by_page, by_hand) if measure in of]
            assert [way["value"] for way in ways] == [wanted] * len(ways), measure
            assert printed[measure]["n_defined"] == expected["n_queries"]


def release_campaign(release: Release) -> dict[str, dict[str, Any]]:
    """What the results page of the release's campaign says, by model and measure."""
    campaign = Campaign.objects.get(slug=release.info["campaigns"][0]["slug"])
    result = campaign.results.order_by("-id").first()
    assert result is not None
    return {model["name"]: model["measures"] for model in result.summary["models"]}


def test_embeddings_rank_the_release_as_the_site_does(
    release: Release, world: World, researcher: User
) -> None:
    spec, vectors = next(iter(world.vectors.items()))
    buffer = io.BytesIO()
    ids = np.array([image.sha256 for image in world.images])
    np.savez(buffer, ids=ids, vectors=vectors.astype(np.float32))
    found = give(release, researcher, buffer.getvalue(), "mine.npz")
    [model] = [one["id"] for one in release.entrants if one["name"] == spec]
    [measures] = [one["measures"] for one in release.results["models"] if one["id"] == model]
    for name, expected in measures.items():
        assert found.results[name]["value"] == pytest.approx(expected["value"], abs=1e-6), name


def test_a_submission_is_its_owners_until_it_is_published(
    client: Client, release: Release, researcher: User
) -> None:
    content = (files_folder(release) / f"runs/{release.entrants[0]['id']}.parquet").read_bytes()
    found = give(release, researcher, content, "run.parquet", "My network")
    other = User.objects.create_user("other", role=Role.RESEARCHER)
    mine, theirs = Client(), Client()
    mine.force_login(researcher)
    theirs.force_login(other)
    assert "My network" in mine.get(BASE).content.decode()
    for reader in (client, theirs):
        assert "My network" not in reader.get(BASE).content.decode()
    url = f"/submissions/{found.uid}/publish/"
    assert theirs.post(url, {"show": "yes"}).status_code == 404
    assert mine.post(url, {"show": "yes"}).status_code == 302
    assert "My network" in client.get(BASE).content.decode()
    assert theirs.post(f"/submissions/{found.uid}/delete/").status_code == 404
    mine.post(url, {"show": "no"})
    assert "My network" not in client.get(BASE).content.decode()


def test_an_admin_deletes_what_others_published_and_does_not_see_what_is_private(
    release: Release, researcher: User
) -> None:
    found = Submission.objects.create(
        release=release, owner=researcher, name="theirs", scored_at=timezone.now()
    )
    admin = Client()
    admin.force_login(User.objects.create_user("ada", role=Role.ADMIN))
    url = f"/submissions/{found.uid}/delete/"
    assert admin.post(url).status_code == 404
    publish(submission=found, is_published=True)
    assert admin.post(url).status_code == 302
    assert not Submission.objects.exists()


HEAD = b"query,candidate,score\n"
BAD = {  # as tests/lookalike/release/test_bad_input.py has of the command and Python
    "columns.csv": (b"a,b,c\nx,y,1\n", ", line 1: the columns are 'a,b,c'; needed: query,cand"),
    "nan.csv": (HEAD + b"x,y,nan\n", ", line 2: "),
    "other.csv": (HEAD + b"x,y,1\n", ", line 2: 'x' is no image of small 1.0.0"),
    "head.csv": (HEAD, ": the file holds no pairs"),
    "binary.csv": (bytes(range(256)), ", line 2: byte 0x80 is not UTF-8"),
    "cut.parquet": (b"PAR1" + bytes(99), ": not readable as parquet"),
    "packed.csv": (gzip.compress(HEAD), ": it is packed by gzip; unpack it"),
    "cut.npz": (b"PK\x03\x04" + bytes(9), ": not readable"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_run_is_refused_on_the_page_and_by_the_api_with_file_place_and_reason(
    release: Release, researcher: User, name: str
) -> None:
    content, said = BAD[name]
    found = give(release, researcher, content, name)
    assert found.scored_at is None
    client = Client()
    client.force_login(researcher)
    error = client.get(f"/api/v1/submissions/{found.uid}").json()["job"]["error"]
    assert f"{name}{said}" in error
    assert "\n" not in error
    assert error in unescape(client.get(BASE).content.decode())


def test_the_daily_quota_and_the_pause_hold_even_for_deleted_ones(
    release: Release, researcher: User
) -> None:
    content = (files_folder(release) / f"runs/{release.entrants[0]['id']}.parquet").read_bytes()
    for number in range(5):
        delete(submission=give(release, researcher, content, "a.parquet", f"n{number}"))
    assert not Submission.objects.exists()
    with pytest.raises(QuotaError, match="within a day"):
        give(release, researcher, b"q", "a.csv", "sixth")
    assert quota(researcher, release).n_left == 0
    Job.objects.filter(task=SCORE_TASK).update(created_at=timezone.now() - timedelta(days=2))
    assert quota(researcher, release).n_left == 5
    submit(release=release, owner=researcher, name="a", file=SimpleUploadedFile("a.csv", b"x"))
    with pytest.raises(QuotaError, match="Wait"):
        submit(release=release, owner=researcher, name="b", file=SimpleUploadedFile("b.csv", b"x"))


def test_what_is_refused_before_any_score_takes_no_part_of_the_quota_and_the_page_says_so(
    release: Release, researcher: User
) -> None:
    reader = Client()
    reader.force_login(researcher)
    assert "5 submissions left today, a minute apart." in reader.get(f"{BASE}submit/").text
    give(release, researcher, b"foo,bar\n", "bad.csv", "bad")
    assert quota(researcher, release).n_left == 5
    page = reader.get(f"{BASE}submit/").text
    assert "5 submissions left today, a minute apart: the next one in " in page
    assert "A file that is refused takes none of them." in page
    rest()
    submit(release=release, owner=researcher, name="a", file=SimpleUploadedFile("a.csv", b"x"))
    assert quota(researcher, release).n_left == 4  # nobody has refused it yet
    Job.objects.filter(task=SCORE_TASK).update(state="failed", is_refused=True, n_done=1)
    assert quota(researcher, release).n_left == 3  # by then something was scored


def test_the_form_says_that_lists_cut_at_a_depth_lack_scores(
    release: Release, researcher: User
) -> None:
    reader = Client()
    reader.force_login(researcher)
    assert "Lists cut at a depth lack scores" in unescape(reader.get(f"{BASE}submit/").text)


def test_the_releases_own_trec_run_is_scored_as_its_board_says(
    release: Release, researcher: User
) -> None:
    model = release.entrants[0]
    [measures] = [one["measures"] for one in release.results["models"] if one["id"] == model["id"]]
    content = (files_folder(release) / f"trec/runs/{model['id']}.txt").read_bytes()
    found = give(release, researcher, content, "run.txt", "again by TREC")
    assert found.coverage["n_scored"] == found.coverage["n_pairs"]
    for name, expected in measures.items():
        assert found.results[name]["value"] == pytest.approx(expected["value"], abs=1e-9), name


def test_an_upload_goes_with_its_submission_and_stays_where_deleting_it_fails(
    release: Release, researcher: User
) -> None:
    file = SimpleUploadedFile("a.csv", b"x")
    submission = submit(release=release, owner=researcher, name="a", file=file)
    assert submission.job is not None
    kept = kept_path(submission.job.arguments["file"])
    with transaction.atomic():
        delete(submission=Submission.objects.get())
        transaction.set_rollback(True)
    assert kept.exists()
    delete(submission=Submission.objects.get())
    assert not kept.exists()


def test_judges_and_strangers_cannot_submit(client: Client, release: Release, world: World) -> None:
    assert client.get(f"{BASE}submit/").status_code == 302
    judge = Client()
    judge.force_login(world.judges[0])
    assert judge.post(f"{BASE}submit/", {}).status_code == 403


def test_hidden_labels_give_rounded_means_and_nothing_else(
    client: Client, world: World, researcher: User
) -> None:
    release = freeze_now(request_for(world, hidden_percent=50, is_public=True))
    folder = files_folder(release)
    content = (folder / f"runs/{release.entrants[0]['id']}.parquet").read_bytes()
    found = give(release, researcher, content, "run.parquet")
    wanted = set(release.info["measures"]) - set(NEGATIVE_AREAS)  # drawn for public queries
    assert set(found.hidden_results) == wanted
    for entry in [*found.hidden_results.values(),
                  *release.hidden_results["models"][0]["measures"].values()]:  # fmt: skip
        assert set(entry) == {"value"}
        steps = (0.0, 2 / 4, 2 / 3, 1.0)  # 2 / n, of four queries or of three with positives
        assert entry["value"] in {None, *(round(step, 12) for step in steps)}
    mine = found.hidden_results["P@5"]["value"]
    assert mine == release.hidden_results["models"][0]["measures"]["P@5"]["value"]
    page = client.get(f"{BASE}?labels=hidden").content.decode()
    assert "by hidden labels" in page
    queries = pq.read_table(folder / "data/queries.parquet").to_pylist()
    hidden = [row["query_id"] for row in queries if row["split"] == "hidden"]
    stored = json.dumps([found.results, found.hidden_results, release.hidden_results])
    assert not [query for query in hidden if query in stored or query in page]


def vectors_file(release: Release, world: World, *, change: float | None = None) -> bytes:
    """Embeddings of all images; the first one twice, in the end with something added."""
    vectors = world.vectors[SPECS[0]].astype(np.float32)
    ids = [image.sha256 for image in world.images]
    if change is not None:
        ids, vectors = [*ids, ids[0]], np.concatenate([vectors, vectors[:1] + np.float32(change)])
    buffer = io.BytesIO()
    np.savez(buffer, ids=np.array(ids), vectors=vectors)
    return buffer.getvalue()


def error_of(submission: Submission) -> str:
    assert submission.job is not None
    submission.job.refresh_from_db()
    return submission.job.error


def test_two_vectors_of_an_image_are_refused_with_their_rows(
    release: Release, world: World, researcher: User
) -> None:
    twice = give(release, researcher, vectors_file(release, world, change=0.0), "a.npz", "same")
    assert twice.scored_at is not None
    other = give(release, researcher, vectors_file(release, world, change=1.0), "a.npz", "other")
    assert other.scored_at is None
    said = error_of(other)
    assert "a.npz, row 31" in said or "row 31" in said
    assert f"'{world.images[0].sha256}' has another vector in row 1" in said


def test_a_npy_is_refused_at_once_with_what_to_give(release: Release, researcher: User) -> None:
    reader = Client()
    reader.force_login(researcher)
    file = SimpleUploadedFile("mine.npy", b"x")
    page = reader.post(f"{BASE}submit/", {"name": "n", "file": file, "missing": "error"})
    assert "Give a .npz with the arrays ids and vectors" in page.content.decode()
    with pytest.raises(InputError, match="holds no names of images"):
        submit(release=release, owner=researcher, name="n", file=file)
    assert not Submission.objects.exists()


def test_missing_scores_are_an_error_unless_they_shall_be_the_worst(
    release: Release, researcher: User
) -> None:
    pairs = pq.read_table(files_folder(release) / "data/pairs.parquet").to_pylist()
    lines = [f"{row['query_id']},{row['image_id']},{n}" for n, row in enumerate(pairs)]
    most = "\n".join(["query,candidate,score", *lines[1:]]).encode()
    refused = give(release, researcher, most, "most.csv", "refused")
    first = pairs[0]
    assert refused.scored_at is None
    assert error_of(refused) == (
        f"most.csv: no score for 1 of {len(pairs)} pairs put to the judges (first: query "
        f"{first['query_id']}, candidate {first['image_id']}). Add them, or let missing scores "
        "count as the worst."
    )
    taken = give(release, researcher, most, "most.csv", "taken", missing="worst")
    assert taken.coverage == {"n_pairs": len(pairs), "n_scored": len(pairs) - 1}
    reader = Client()
    reader.force_login(researcher)
    assert "of pairs scored" in reader.get(BASE).content.decode()


def test_scores_of_the_judged_pairs_alone_have_no_cut_off_measures(
    release: Release, researcher: User
) -> None:
    """They are no lists: even random numbers would put similar ones on top."""
    pairs = pq.read_table(files_folder(release) / "data/pairs.parquet").to_pylist()
    rng = np.random.default_rng(0)
    rows = [f"{row['query_id']},{row['image_id']},{rng.random()}" for row in pairs]
    found = give(release, researcher, "\n".join(["query,candidate,score", *rows]).encode(), "a.csv")
    for name in ("vsd_hr@5", "vsd_mrr@9", "Success@1", "MRR@5", "P@5", "P_max@5", "judged@5"):
        assert found.results[name]["value"] is None, name
    for name in ("AP'", "macro_roc_auc", "micro_pr_auc"):
        assert found.results[name]["value"] > 0, name
    reader = Client()
    reader.force_login(researcher)
    page = reader.get(BASE).content.decode()
    assert "Judged@5" in page
    assert "no lists to cut off" in page


def test_the_leaderboard_is_sorted_and_holds_ones_own(
    release: Release, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookalike.metrics.leaderboard.LEAST_QUERIES", 1)
    content = (files_folder(release) / f"runs/{release.entrants[0]['id']}.parquet").read_bytes()
    give(release, researcher, content, "run.parquet")
    columns = [("P@5", "P@5"), ("macro_roc_auc", "AUC")]
    board = leaderboard(release, researcher, columns, "P@5", hidden=False)
    for section in board.sections:
        values = [line.cells[0].value or 0.0 for line in section.lines]
        assert values == sorted(values, reverse=True)
    assert board.badges >= {"pooled", "submitted"}
    own = next(line for line in board.lines if line.model.badge == "submitted")
    assert own.model.notes == ["only you see it"]
    assert [cell.comparable_with for cell in own.cells] == ["nobody", "outsiders"]
    stranger = leaderboard(release, AnonymousUser(), columns, "P@5", hidden=False)
    assert "submitted" not in stranger.badges


def test_a_submission_is_an_outsider_to_the_pool_and_a_copy_of_its_models_is_found_out(
    release: Release, researcher: User
) -> None:
    folder = files_folder(release)
    pooled = next(one["id"] for one in release.entrants if one["badge"] == "pooled")
    run = run_of(folder / f"runs/{pooled}.parquet")
    for row in pq.read_table(folder / "data/pool.parquet").to_pylist():
        if row["model_id"] == pooled:
            run[row["query_id"]][row["image_id"]] = 100.0 - row["rank"]
    lines = [f"{query},{image},{score}" for query, of in run.items() for image, score in of.items()]
    content = "\n".join(["query,candidate,score", *lines]).encode()
    copy = give(release, researcher, content, "copy.csv", "copy").results
    by_hand = equal_outsider_auc(folder, "a newcomer", run)
    assert copy[EQUAL_OUTSIDER]["value"] == pytest.approx(by_hand, abs=1e-9)
    assert copy[EQUAL_OUTSIDER]["comparable_with"] == "nobody"
    reason = copy[EQUAL_OUTSIDER]["reason"]
    assert reason == f"may be related to {pooled}; labels made by its relatives stay in"
    rng = np.random.default_rng(0)
    pairs = pq.read_table(folder / "data/pairs.parquet").to_pylist()
    rows = [f"{row['query_id']},{row['image_id']},{rng.random()}" for row in pairs]
    content = "\n".join(["query,candidate,score", *rows]).encode()
    other = give(release, researcher, content, "r.csv", "noise").results[EQUAL_OUTSIDER]
    assert other["comparable_with"] in {"all models", "models without relatives"}
    reader = Client()
    reader.force_login(researcher)
    board = reader.get(BASE).context["board"]
    at = board.sorted_at
    assert board.columns[at].name == EQUAL_OUTSIDER
    whom = {line.model.name: line.cells[at].comparable_with for line in board.lines}
    assert whom["copy"] == "nobody"
    unrelated = {name for name, group in whom.items() if group == whom["noise"]}
    assert len(unrelated) > 1


def test_private_submissions_change_no_cell_or_test_that_others_see(
    release: Release, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers.md N5, on the site: noise, a copy, and half of a copy under the worst scores."""
    monkeypatch.setattr("lookalike.metrics.leaderboard.LEAST_QUERIES", 1)
    monkeypatch.setattr("lookalike.release.leaderboard.LEAST_QUERIES", 1)
    columns = [(name, name) for name in ("AP'", "P@5", "macro_roc_auc", EQUAL_OUTSIDER)]

    def board(reader: User | AnonymousUser) -> dict[str, tuple[Cell, ...]]:
        found = leaderboard(release, reader, columns, "AP'", hidden=False)
        return {line.model.name: tuple(line.cells) for line in found.lines}

    before = board(AnonymousUser())
    assert any(cell.letters for cells in before.values() for cell in cells)
    run = run_of(files_folder(release) / f"runs/{release.entrants[0]['id']}.parquet")
    rows = [f"{query},{image},{score}" for query, of in run.items() for image, score in of.items()]
    rng = np.random.default_rng(0)
    noise = [f"{row.rsplit(',', 1)[0]},{rng.random()}" for row in rows]
    submitted: list[tuple[str, list[str], Missing]] = [
        ("copy", rows, "error"),
        ("noise", noise, "error"),
        ("half", rows[::2], "worst"),
    ]
    for name, lines, missing in submitted:
        content = "\n".join(["query,candidate,score", *lines]).encode()
        give(release, researcher, content, f"{name}.csv", name, missing)
    assert board(AnonymousUser()) == before
    mine = board(researcher)
    assert set(mine) == {*before, "copy", "noise", "half"}
    assert {name: mine[name] for name in before} == before
    assert not any(cell.letters for name in ("copy", "noise", "half") for cell in mine[name])
