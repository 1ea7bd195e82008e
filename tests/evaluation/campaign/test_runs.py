"""Uploaded runs: checked on arrival with place and reason, scored, deleted by their owners."""

from __future__ import annotations

import io
import json
import pickle
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.test import Client

from accounts.models import Role, User
from annotation.services.imports import import_judgements
from catalog.importing.uploads import uploads_folder
from evaluation.models import Result, Run
from evaluation.results.assessment import assess
from evaluation.results.leaderboard import leaderboard, model_key
from evaluation.results.services import EVALUATE_TASK, store_result
from evaluation.results.stored import StoredResult
from evaluation.runs import services
from evaluation.runs.disk_quota import DiskUse, disk_use
from evaluation.runs.services import ADD_RUN_TASK
from evaluation.runs.stored_runs import load_run, run_path, store_run
from evaluation.tasks import add_run, evaluate
from jobs.models import Job, JobState
from lookalike.core.dataclass_json import as_json
from lookalike.io.tables import Run as Scores
from tests.annotation.locks import somebody_waits
from tests.waiting import wait_until
from tests.worlds import SPECS, Name, World, by_path, by_sha256, cosines, rows_of, scores_csv

pytestmark = pytest.mark.django_db
HEAD = "query,candidate,score"
FIRST = "views of/0.png,views of/4.png"


def by_uid(world: World, row: int) -> str:
    return str(world.images[row].uid)


def by_release_id(world: World, row: int) -> str:
    return world.images[row].sha256[:16]


def runs_page(client: Client, world: World) -> str:
    return client.get(f"/results/{world.campaign.slug}/runs/").content.decode()


def put(world: World, path: Path, **options: Any) -> dict[str, Any]:
    out = io.StringIO()
    given = {"name": "mine", "json": True, "stdout": out} | options
    call_command("add_run", world.campaign.slug, str(path), **given)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.mark.parametrize("name", [by_path, by_uid, by_sha256, by_release_id])
def test_the_same_scores_get_the_same_measures_however_images_are_named(
    judged_world: World, tmp_path: Path, name: Name
) -> None:
    found = put(judged_world, scores_csv(judged_world, tmp_path / "run.csv", name))
    assert found["n_scored"] == found["n_pairs"] == judged_world.campaign.n_questions
    models = {
        m["name"]: m
        for m in assess(judged_world.campaign, n_bootstraps=0).summary.as_json()["models"]
    }
    assert models["mine"]["badge"] == "outsider"
    for measure, value in models[SPECS[0]]["measures"].items():
        assert models["mine"]["measures"][measure]["value"] == pytest.approx(
            value["value"], abs=1e-6
        )


@pytest.mark.parametrize("n_judged", [40, 10_000])
def test_scores_of_the_asked_pairs_alone_have_no_ranks_while_some_are_still_unjudged(
    open_world: World, tmp_path: Path, n_judged: int
) -> None:
    campaign = open_world.campaign
    words = " ".join(["sdd", "ssd"] * (n_judged // 2))
    import_judgements(campaign=campaign, rows=rows_of(campaign, words))
    place = {image.pk: row for row, image in enumerate(open_world.images)}
    scores = cosines(open_world)
    pairs = campaign.questions.values_list("query_id", "candidate_id")
    lines = [
        f"{by_path(open_world, q)},{by_path(open_world, c)},{float(scores[q, c])!r}"
        for q, c in ((place[query], place[candidate]) for query, candidate in pairs)
    ]
    (tmp_path / "bare.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    put(open_world, tmp_path / "bare.csv", name="bare")
    without_one = {line.split(",", maxsplit=1)[0]: line for line in lines}.values()
    most = [line for line in lines if line not in without_one]
    (tmp_path / "most.csv").write_text("\n".join([HEAD, *most]) + "\n")
    put(open_world, tmp_path / "most.csv", name="most", missing="worst")
    put(open_world, scores_csv(open_world, tmp_path / "whole.csv"), name="whole")
    models = {model.name: model for model in assess(campaign, n_bootstraps=0).summary.models}
    assert not models["bare"].has_list
    assert models["whole"].has_list
    assert not models["most"].has_list, "one pair of each query left out makes no list of it"
    for name in ("bare", "most"):
        value = models[name].measures["P@5"].value
        assert value is None or np.isnan(value)
    for name in ("macro_roc_auc", "micro_pr_auc"):
        bare, whole = (models[model].measures[name].value for model in ("bare", "whole"))
        assert bare == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize("kind", ["npy", "npz", "parquet"])
def test_uploaded_embeddings_are_scored_like_stored_ones(
    judged_world: World, tmp_path: Path, kind: str
) -> None:
    vectors = judged_world.vectors[SPECS[1]].astype(np.float32)
    ids = [by_path(judged_world, row) for row in range(30)]
    path, options = tmp_path / f"run.{kind}", {}
    if kind == "npy":
        np.save(path, vectors)
        (tmp_path / "ids.txt").write_text("\n".join(ids) + "\n")
        options = {"ids": tmp_path / "ids.txt"}
    elif kind == "npz":
        np.savez(path, ids=np.array(ids), vectors=vectors)
    else:
        pq.write_table(pa.table({"id": ids, "vector": list(vectors)}), path)
    found = put(judged_world, path, family=SPECS[1], **options)
    assert (found["kind"], found["n_images"], found["dim"]) == ("embeddings", 30, 6)
    models = {
        m["name"]: m
        for m in assess(judged_world.campaign, n_bootstraps=0).summary.as_json()["models"]
    }
    assert models["mine"]["badge"] == "sibling"
    for measure, value in models[SPECS[1]]["measures"].items():
        assert models["mine"]["measures"][measure]["value"] == pytest.approx(
            value["value"], abs=1e-9
        )


def few(world: World, path: Path) -> None:
    """A score for one pair of the campaign alone."""
    question = world.campaign.questions.select_related("query", "candidate").first()
    assert question is not None
    path.write_text(f"{HEAD}\n{question.query.uid},{question.candidate.uid},1\n")


def text(*lines: str) -> Callable[[World, Path], None]:
    def write(world: World, path: Path) -> None:
        path.write_text("\n".join(lines) + "\n")

    return write


def arrays(change: Callable[[np.ndarray, list[str]], Any]) -> Callable[[World, Path], None]:
    def write(world: World, path: Path) -> None:
        vectors = world.vectors[SPECS[0]].astype(np.float32)
        ids = [by_path(world, row) for row in range(30)]
        made = change(vectors, ids)
        if made is not None:
            vectors, ids = made
        np.savez(path, ids=np.array(ids), vectors=vectors)

    return write


def set_at(row: int, value: float) -> Callable[[np.ndarray, list[str]], None]:
    def change(vectors: np.ndarray, ids: list[str]) -> None:
        vectors[row] = value

    return change


BAD = [
    ("nan.csv", text(HEAD, f"{FIRST},NaN"), r"nan\.csv, line 2: score 'NaN' is not finite"),
    ("inf.csv", text(HEAD, f"{FIRST},-inf"), r"inf\.csv, line 2: .*not finite"),
    ("word.csv", text(HEAD, f"{FIRST},high"), r"word\.csv, line 2: .*not a number"),
    ("short.csv", text(HEAD, f"{'0' * 15},views of/1.png,1"), r"line 2: '0{15}' is no image"),
    (
        "who.csv",
        text(HEAD, f"{FIRST},1", "no.png,views of/1.png,1"),
        r"who\.csv, line 3: 'no\.png' is no",
    ),
    (
        "twice.csv",
        text(HEAD, f"{FIRST},1", f"{FIRST},2"),
        r"twice\.csv, line 3: .*scored before, in line 2",
    ),
    ("few.csv", few, r"no score for \d+ of \d+ pairs .*first: query"),
    ("half.run", text("views Q0 c 1 2"), r"half\.run, line 1: 5 fields where there must be 6"),
    ("empty.csv", text(""), r"empty\.csv, line 1: the file is empty"),
    ("nan.npz", arrays(set_at(3, np.nan)), r"nan\.npz, row 4: the vector holds NaN"),
    ("inf.npz", arrays(set_at(5, np.inf)), r"inf\.npz, row 6: the vector holds an infinity"),
    ("zero.npz", arrays(set_at(0, 0)), r"zero\.npz, row 1: the vector has length 0"),
    (
        "flat.npz",
        arrays(lambda v, ids: (v.ravel(), ids)),
        r"flat\.npz: vectors must be floats of shape",
    ),
    ("short.npz", arrays(lambda v, ids: (v[1:], ids)), r"short\.npz: 30 ids for 29 vectors"),
    ("some.npz", arrays(lambda v, ids: (v[3:], ids[3:])), r"no score for \d+ of"),
    (
        "name.npz",
        arrays(lambda v, ids: (v, [*ids[:-1], "x.png"])),
        r"name\.npz, row 30: 'x\.png' is no",
    ),
    (
        "double.npz",
        arrays(lambda v, ids: (v, [*ids[:-1], ids[0]])),
        r"double\.npz, row 30: .*another vector in row 1",
    ),
]


@pytest.mark.parametrize(("file", "write", "message"), BAD, ids=[case[0] for case in BAD])
def test_bad_files_are_refused_with_place_and_reason(
    judged_world: World, tmp_path: Path, file: str, write: Any, message: str
) -> None:
    write(judged_world, tmp_path / file)
    with pytest.raises(CommandError, match=message):
        put(judged_world, tmp_path / file)
    assert not Run.objects.exists()


def test_python_objects_in_a_file_are_never_loaded(judged_world: World, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    np.savez(
        tmp_path / "bomb.npz", ids=np.array([Bomb()], object), vectors=np.ones((1, 2), np.float32)
    )
    np.save(tmp_path / "bomb.npy", np.array([Bomb()], object), allow_pickle=True)
    (tmp_path / "ids.txt").write_text("views of/0.png\n")
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(Bomb()))
    for name, options in (("bomb.npz", {}), ("bomb.npy", {"ids": tmp_path / "ids.txt"})):
        with pytest.raises(CommandError, match="never loaded"):
            put(judged_world, tmp_path / name, **options)
    with pytest.raises(CommandError):
        put(judged_world, tmp_path / "bomb.pkl")
    assert not (tmp_path / "ran").exists()


def test_missing_scores_count_as_the_worst_on_request_and_coverage_is_kept(
    judged_world: World, tmp_path: Path
) -> None:
    question = judged_world.campaign.questions.select_related("query", "candidate").first()
    assert question is not None
    line = f"{question.query.uid},{question.candidate.uid},1"
    (tmp_path / "few.csv").write_text(f"{HEAD}\n{line}\n")
    found = put(judged_world, tmp_path / "few.csv", missing="worst")
    assert (found["n_scored"], found["n_rows"]) == (1, 1)
    assert found["share"] == pytest.approx(1 / judged_world.campaign.n_questions)
    mine = assess(judged_world.campaign, n_bootstraps=0).summary.as_json()["models"][-1]
    assert mine["name"] == "mine"
    assert mine["coverage"]["n_scored"] == 1


def test_a_run_that_the_labels_have_outgrown_is_left_out_with_the_reason(
    judged_world: World, tmp_path: Path
) -> None:
    (tmp_path / "few.csv").write_text(
        f"{HEAD}\n" + "\n".join(
            f"{q.query.uid},{q.candidate.uid},1" for q in judged_world.campaign.questions.all()[:3]
        )
    )  # fmt: skip
    put(judged_world, tmp_path / "few.csv", missing="worst")
    Run.objects.update(missing="error")
    found = assess(judged_world.campaign, n_bootstraps=0).summary.as_json()
    assert [m["name"] for m in found["models"]] == [*SPECS, "descriptor:lbp-texture"]
    assert found["left_out"][0]["name"] == "mine"
    assert "has no score for" in found["left_out"][0]["reason"]


def test_names_are_unique_among_runs_and_models(judged_world: World, tmp_path: Path) -> None:
    path = scores_csv(judged_world, tmp_path / "run.csv")
    put(judged_world, path)
    with pytest.raises(CommandError, match="already"):
        put(judged_world, path)
    with pytest.raises(CommandError, match="embedded models"):
        put(judged_world, path, name=SPECS[0])


def test_changed_scores_on_the_disk_are_noticed(judged_world: World, tmp_path: Path) -> None:
    put(judged_world, scores_csv(judged_world, tmp_path / "run.csv"))
    run = Run.objects.get()
    stored = run_path(run.sha256)
    stored.write_bytes(stored.read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match="changed on disk"):
        load_run(run.sha256, run.name)


def test_scores_that_were_damaged_on_the_disk_are_mended_by_the_same_upload(db: None) -> None:
    scores = Scores.of("mine", [("a", "b", 0.5), ("a", "c", 0.25)])
    stored = run_path(store_run(scores))
    stored.write_bytes(stored.read_bytes()[:-1] + b"x")
    sha256 = store_run(scores)
    assert load_run(sha256, "mine").scores.tolist() == scores.scores.tolist()


def upload(client: Client, world: World, content: bytes, **fields: str) -> Any:
    given = {"name": "mine", "missing": "error"} | fields
    file = SimpleUploadedFile("run.csv", content)
    return client.post(f"/results/{world.campaign.slug}/runs/", {**given, "file": file})


def test_an_upload_is_checked_by_a_job_then_evaluated_and_stands_on_the_leaderboard(
    judged_world: World, tmp_path: Path, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    content = scores_csv(judged_world, tmp_path / "run.csv").read_bytes()
    assert upload(client, judged_world, content).status_code == 302
    check = Job.objects.get(task=ADD_RUN_TASK)
    assert "is being checked" in runs_page(client, judged_world)
    add_run(str(check.uid))
    check.refresh_from_db()
    assert (check.state, check.error) == (JobState.SUCCEEDED, "")
    assert Run.objects.get().owner == researcher
    evaluate(str(Job.objects.get(task=EVALUATE_TASK).uid))
    page = client.get(f"/results/{judged_world.campaign.slug}/").content.decode()
    assert ">mine</a>" in page
    assert "100.0 %" in runs_page(client, judged_world)


def test_a_person_who_keeps_too_much_on_the_disk_is_told_how_much_and_what_to_do(
    judged_world: World, tmp_path: Path, client: Client, researcher: User, settings: Any
) -> None:
    client.force_login(researcher)
    content = scores_csv(judged_world, tmp_path / "run.csv").read_bytes()
    upload(client, judged_world, content)
    add_run(str(Job.objects.get(task=ADD_RUN_TASK).uid))
    assert "Your runs and uploads take" in runs_page(client, judged_world)
    upload(client, judged_world, b"x" * 2**20, name="waits")
    n_stored = run_path(Run.objects.get().sha256).stat().st_size
    assert disk_use(researcher) == DiskUse(1, 1, n_stored + 2**20)

    settings.DISK_QUOTA_MIB = 2
    kept = set(uploads_folder().iterdir())
    page = unescape(upload(client, judged_world, b"x" * 2**20, name="more").content.decode())
    assert "Your 1 run and 1 upload take" in page
    assert "of the 2.0\xa0MB that one person may keep here" in page
    assert "Delete runs that you no longer need" in page
    assert Job.objects.filter(task=ADD_RUN_TASK).count() == 2
    assert set(uploads_folder().iterdir()) == kept

    Run.objects.get().delete()  # the file of the last one goes with it
    assert upload(client, judged_world, b"x" * 2**19, name="smaller").status_code == 302
    researcher.role = Role.ADMIN
    researcher.save()
    assert upload(client, judged_world, b"x" * 2**20, name="admin").status_code == 302


@pytest.fixture(params=[(1_000_000, 302), (0, 400)])
def answer_to_large_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Refuse forms over a thousand bytes, but for runs; what a researcher's run then gets."""
    allowed, status = request.param
    monkeypatch.setattr("catalog.importing.upload_handlers.SMALL", 1_000)
    monkeypatch.setattr(
        "catalog.importing.upload_handlers.READER_PAGES", {"evaluation:runs": allowed}
    )
    return int(status)


def test_a_researchers_run_may_be_larger_than_other_forms_as_far_as_its_page_allows(
    judged_world: World,
    tmp_path: Path,
    client: Client,
    researcher: User,
    answer_to_large_run: int,
) -> None:
    content = scores_csv(judged_world, tmp_path / "run.csv").read_bytes()
    assert 1_000 < len(content) < 1_000_000
    client.force_login(researcher)
    assert upload(client, judged_world, content).status_code == answer_to_large_run
    client.force_login(judged_world.judges[0])
    assert upload(client, judged_world, content).status_code in {400, 403}


def test_a_refused_upload_says_why_on_the_page_in_the_giver_s_words(
    judged_world: World, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    upload(client, judged_world, f"{HEAD}\n{FIRST},oops\n".encode())
    add_run(str(Job.objects.get(task=ADD_RUN_TASK).uid))
    page = runs_page(client, judged_world)
    assert "run.csv, line 2: score &#x27;oops&#x27; is not a number" in page
    job = Job.objects.get(task=ADD_RUN_TASK)
    assert "uploads" not in job.error
    assert f"/jobs/{job.uid}/dismiss/" in page
    assert "Correct the file and upload it again." in page
    assert f"/jobs/{job.uid}/retry/" not in page
    assert "try again" not in page
    client.post(f"/jobs/{job.uid}/dismiss/")
    assert "oops" not in runs_page(client, judged_world)


def test_of_a_run_with_few_scores_the_board_says_how_often_names_decide(
    judged_world: World, tmp_path: Path, client: Client, researcher: User
) -> None:
    client.force_login(researcher)
    lines = scores_csv(judged_world, tmp_path / "run.csv").read_text().splitlines()
    rough = [
        f"{line.rpartition(',')[0]},{float(line.rpartition(',')[2]):.0f}" for line in lines[1:]
    ]
    upload(client, judged_world, "\n".join([lines[0], *rough]).encode())
    add_run(str(Job.objects.get(task=ADD_RUN_TASK).uid))
    evaluate(str(Job.objects.get(task=EVALUATE_TASK).uid))
    page = client.get(f"/results/{judged_world.campaign.slug}/").content.decode()
    assert len(re.findall(r"equal scores at \d+ % of its cuts: names decide there", page)) == 1


def test_a_run_that_came_during_an_evaluation_is_evaluated_after_it(
    judged_world: World, tmp_path: Path
) -> None:
    job = Job.objects.create(
        task=EVALUATE_TASK,
        subject=f"results:{judged_world.campaign.slug}",
        title="t",
        arguments={"campaign": judged_world.campaign.pk},
    )
    put(judged_world, scores_csv(judged_world, tmp_path / "run.csv"))
    assert Job.objects.filter(task=EVALUATE_TASK).count() == 1
    evaluate(str(job.uid))
    assert Job.objects.filter(task=EVALUATE_TASK).count() == 1
    Run.objects.all().delete()
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)
    Result.objects.update(inputs={"run gone": "0" * 64})
    evaluate(str(job.uid))
    assert Job.objects.filter(task=EVALUATE_TASK).count() == 1


def test_owners_and_admins_delete_runs_strangers_do_not(
    judged_world: World, tmp_path: Path, client: Client, researcher: User
) -> None:
    put(judged_world, scores_csv(judged_world, tmp_path / "run.csv"))
    run = Run.objects.get()
    run.owner = researcher
    run.save()
    address = f"/results/{judged_world.campaign.slug}/runs/{run.uid}/delete/"
    assert client.post(address).status_code == 302
    for person in (User.objects.create_user("other", role=Role.RESEARCHER), judged_world.judges[0]):
        client.force_login(person)
        assert client.post(address).status_code == 403
    assert Run.objects.filter(pk=run.pk).exists()
    client.force_login(researcher)
    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 302
    assert not Run.objects.filter(pk=run.pk).exists()


def store_again(world: World, name: str) -> Run:
    """Add a run of the same scores as every other that is added here."""
    scores = Scores.of(name, [("a", "b", 0.5)])
    try:
        return services.add_run(campaign=world.campaign, owner=None, scores=scores, coverage={})
    finally:
        if threading.current_thread() is not threading.main_thread():
            connection.close()


def delete_beside(run: Run) -> None:
    """Delete a run on a connection of this thread's own."""
    try:
        services.delete_run(run=run, by=None)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_scores_that_a_run_takes_up_while_the_last_run_of_them_is_deleted_stay(
    judged_world: World,
) -> None:
    old = store_again(judged_world, "old")
    stored = run_path(old.sha256)
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        services.delete_run(run=old, by=None)
        new = pool.submit(store_again, judged_world, "new").result()
    assert stored.exists()
    services.delete_run(run=new, by=None)
    assert not stored.exists()


@pytest.mark.django_db(transaction=True)
def test_who_deletes_the_last_run_of_scores_waits_for_who_adds_another(
    judged_world: World,
) -> None:
    old = store_again(judged_world, "old")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            store_again(judged_world, "new")
            deleting = pool.submit(delete_beside, old)
            wait_until(lambda: deleting.done() or somebody_waits(), pause=0.01)
        deleting.result()
    assert [run.name for run in Run.objects.all()] == ["new"]
    assert run_path(old.sha256).exists()


@pytest.mark.django_db(transaction=True)
def test_scores_that_go_before_the_run_that_takes_them_up_is_there_are_stored_again(
    judged_world: World,
) -> None:
    sha256 = store_run(Scores.of("new", [("a", "b", 0.5)]))
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic(), connection.cursor() as cursor:  # as the deletion of a run does
            cursor.execute(services.HOLD_SCORES, [sha256])
            adding = pool.submit(store_again, judged_world, "new")
            wait_until(lambda: adding.done() or somebody_waits(), pause=0.01)
            run_path(sha256).unlink()
        assert adding.result().sha256 == sha256
    assert run_path(sha256).exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"name": SPECS[0]}, "one of the embedded models"),
        ({"missing": "guess"}, "Select a valid choice"),
    ],
)
def test_bad_forms_are_refused_before_anything_is_kept(
    judged_world: World, client: Client, researcher: User, fields: dict[str, str], words: str
) -> None:
    client.force_login(researcher)
    reply = upload(client, judged_world, b"x", **fields)
    assert reply.status_code == 200
    assert words in reply.content.decode()
    assert not Job.objects.filter(task=ADD_RUN_TASK).exists()


def test_a_run_of_the_labelled_pairs_alone_gets_no_list_columns_and_takes_nobodys(
    judged_world: World, tmp_path: Path, client: Client, researcher: User
) -> None:
    campaign = judged_world.campaign
    before = assess(campaign, n_bootstraps=50)
    rng = np.random.default_rng(0)
    pairs = campaign.questions.filter(kind="pair").select_related("query", "candidate")
    path = tmp_path / "noise.csv"
    rows = [f"{q.query.sha256},{q.candidate.sha256},{rng.random()}" for q in pairs]
    path.write_text("\n".join([HEAD, *rows]))
    put(judged_world, path, name="noise")
    after = assess(campaign, n_bootstraps=50)
    was = {model["name"]: model["measures"] for model in before.summary.as_json()["models"]}
    now = {model["name"]: model["measures"] for model in after.summary.as_json()["models"]}
    for name in ("vsd_hr@5", "Success@5", "MRR@5", "P@5", "judged@5"):
        assert now["noise"][name] == {**now["noise"][name], "value": None, "n_defined": 0}
        for model, measures in was.items():
            assert now[model][name] == measures[name]
    assert now["noise"]["macro_roc_auc"]["value"] is not None
    assert now["noise"]["AP'"]["value"] is not None
    n_cutoffs = {row["name"]: len(row["cutoffs"]) for row in as_json(after.report)["model_rows"]}
    assert n_cutoffs.pop("noise") == 0
    assert min(n_cutoffs.values()) > 0
    tested = next(test for test in after.summary.as_json()["tests"] if test["measure"] == "P@5")
    assert not [t for t in tested["tests"] if "noise" in (t["first"], t["second"])]
    assert len(tested["tests"]) == 3
    result = store_result(campaign=campaign, assessment=after, job=None)
    line = next(
        one for one in leaderboard(StoredResult(result), "P@5").lines if one.model.name == "noise"
    )
    assert [cell.letters for cell in line.cells[:4]] == [""] * 4
    client.force_login(researcher)
    base = f"/results/{campaign.slug}/"
    two = f"?a={model_key('noise')}&b={model_key(SPECS[0])}&measure=P%405"
    compared = client.get(f"{base}compare/{two}").content.decode()
    assert "Nothing to compare by P@5" in compared
    assert "evaluate the campaign anew" not in compared
    for address in (base, f"{base}models/{model_key('noise')}/?measure=P@5"):
        assert "No list" in client.get(address).content.decode()
    for address in ("bias/", f"compare/?a={model_key('noise')}&b={model_key(SPECS[0])}"):
        assert client.get(base + address).status_code == 200
