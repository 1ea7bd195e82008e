"""Importing in the browser: queued, done by a worker, its set linked, its errors listed."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import Role, User
from catalog.importing.uploads import upload_path
from catalog.models import Catalog
from conditional import tasks
from conditional.models import TemplateSet, Triplet, TripletSet
from conditional.template_sets.rows import exported_entries
from conditional.uploads import services, templates
from jobs.models import Job, JobState
from jobs.services import retry_job
from tests.conditional.cases import entry, make_catalog

PAGE = "/templates/import/"
ROWS = "anchor,closer,farther,worker\n0,1,2,w1\n0,2,1,w2\n3,4,5,w1\n"


@pytest.fixture
def shop(transactional_db: None, settings: Any, tmp_path: Path) -> Catalog:
    settings.DATA_DIR = tmp_path / "data"
    return make_catalog()


@pytest.fixture
def admin(shop: Catalog) -> Client:
    client = Client()
    client.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    return client


def file_of(content: object, name: str) -> SimpleUploadedFile:
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def post(client: Client, *files: SimpleUploadedFile, **given: Any) -> str:
    """Send the form; return the page that follows it."""
    catalog = Catalog.objects.get(slug="shop")
    sent = {"kind": "genecis", "name": "Others", "catalog": catalog.pk, "file": files, **given}
    return client.post(PAGE, sent, follow=True).content.decode()


def done() -> Job:
    """Do the last job as a worker does."""
    job = Job.objects.order_by("pk").last()
    assert job is not None
    body = {"conditional.import_templates": tasks.import_templates}
    body.get(job.task, tasks.import_triplets)(str(job.uid))
    job.refresh_from_db()
    return job


def uploads() -> list[str]:
    """What lies among the uploads now."""
    return sorted(path.name for path in upload_path(f"{uuid.uuid4()}.csv").parent.glob("*"))


def test_templates_are_imported_by_a_worker_and_linked(admin: Client) -> None:
    given = [entry(0), entry(30, note="kept")]
    assert "“Others” is being imported" in post(admin, file_of(given, "focus_object.json"))
    [kept] = uploads()
    assert "focus" not in kept
    assert Job.objects.get().queue == ""
    job = done()
    assert (job.state, job.error) == (JobState.SUCCEEDED, "")
    stored = TemplateSet.objects.get()
    assert (stored.task, stored.file_name) == ("focus_object", "focus_object.json")
    assert stored.owner == User.objects.get()
    assert exported_entries(stored) == given
    assert uploads() == []
    page = admin.get(PAGE).content.decode()
    assert '<a href="/templates/sets/others/">Others</a>: 2 of 2 entries.' in page


def test_a_file_of_any_name_has_the_task_that_is_chosen(admin: Client) -> None:
    assert "does not say which task it is: choose one" in post(
        admin, file_of([entry(0)], "mine.json")
    )
    assert not Job.objects.exists()
    post(admin, file_of([entry(0)], "mine.json"), task="change_object")
    assert done().result["task"] == "change_object"


def test_cirr_is_imported(admin: Client) -> None:
    members = [f"{number:012d}" for number in range(6)]
    given = {
        "pairid": 1, "reference": members[0], "target_hard": members[3], "caption": "is blue",
        "img_set": {"id": 4, "members": members},
    }  # fmt: skip
    post(admin, file_of([given], "cap.json"), kind="cirr")
    assert done().result["task"] == "composed"
    assert exported_entries(TemplateSet.objects.get()) == [given]


def test_what_cannot_go_in_is_listed_and_nothing_is_stored(admin: Client) -> None:
    bad = [entry(0), *({"condition": "x"} for _ in range(120)), entry(200)]
    post(admin, file_of(bad, "focus_object.json"))
    job = done()
    assert job.state == JobState.FAILED
    lines = job.error.splitlines()
    assert "focus_object.json: 121 of 122 entries cannot go in" in lines[0]
    assert lines[1].startswith("entry 1: ")
    assert (len(lines), lines[-1]) == (102, "and 36 more")
    page = admin.get(PAGE).content.decode()
    assert "121 of 122 entries cannot go in" in page
    assert not TemplateSet.objects.exists()


def test_wrong_images_are_named_and_the_good_are_kept_on_demand(admin: Client) -> None:
    given = [entry(0), entry(200)]
    post(admin, file_of(given, "focus_object.json"))
    done()
    assert "1: reference: no image &#x27;200&#x27;" in admin.get(PAGE).content.decode()
    assert not TemplateSet.objects.exists()
    post(admin, file_of(given, "focus_object.json"), keep_good="on")
    assert done().state == JobState.SUCCEEDED
    assert TemplateSet.objects.get().templates.count() == 1
    page = admin.get(PAGE).content.decode()
    assert "1 of 2 entries; 1 cannot go in and is listed on its page" in page
    assert "no image &#x27;200&#x27;" in admin.get("/templates/sets/others/").content.decode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[{"condition": "x",\n]', "focus_object.json, line 2: not JSON"),
        ("{}", "focus_object.json, line 1: a JSON list is needed"),
        (b"[\xff]", "focus_object.json, line 1: byte 0xff is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_as_its_giver_does(
    admin: Client, content: object, reason: str
) -> None:
    post(admin, file_of(content, "focus_object.json"))
    job = done()
    assert job.state == JobState.FAILED
    assert reason in job.error
    assert job.arguments["files"][0][0] not in job.error


def test_triplets_are_imported_with_scale_and_only_some_rows(admin: Client) -> None:
    scale = file_of("image,value\n0,0\n1,1\n2,3\n3,4\n4,5\n5,9\n", "known.csv")
    post(
        admin, file_of(ROWS, "answers.txt"), kind="triplets", scale=scale, where="worker=w1\n",
    )  # fmt: skip
    assert len(uploads()) == 2
    job = done()
    assert (job.state, job.error) == (JobState.SUCCEEDED, "")
    assert job.result["n_triplets"] == 2
    assert job.result["scale"]["all_votes"]["accuracy"] == 1.0
    assert uploads() == []
    assert TripletSet.objects.get().file_name == "answers.txt"
    assert '<a href="/templates/triplets/others/">Others</a>: 2 of 2' in admin.get(PAGE).text


def test_files_of_integers_give_their_names_to_conditions_and_reasons(admin: Client) -> None:
    names = file_of("0\n1\n2\n3\n", "names.txt")
    both = [
        file_of("0 1 2\n1 3 2\n", "closure_tripletlist_test.txt"),
        file_of("0 1 2\n0 9 2\n", "gender_test_half_reverse.txt"),
    ]
    post(admin, *both, kind="integers", names=names)
    error = done().error
    assert "3: gender_test_half_reverse.txt, line 2: '9' is no position" in error
    for file in (*both, names):
        file.seek(0)
    post(admin, *both, kind="integers", names=names, keep_good="on")
    assert done().result["conditions"] == {"closure": 2, "gender": 1}


def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MAX_BYTES", 40)
    page = post(
        admin, file_of("a\n", "a.csv"), kind="triplets", scale=file_of("x" * 41, "long.csv")
    )
    assert "long.csv is larger than 40" in page
    assert uploads() == []
    assert not Job.objects.exists()


def test_the_form_says_what_is_wrong_before_anything_is_kept(admin: Client) -> None:
    two = [file_of(ROWS, "a.csv"), file_of(ROWS, "b.csv")]
    assert "Choose one file." in post(admin, *two, kind="triplets")
    page = post(admin, file_of(ROWS, "a.csv"), kind="triplets", where="worker")
    assert "is not of the form COLUMN=VALUE" in page
    assert "This field is required" in post(admin, kind="triplets")
    assert "submitted file is empty" in post(admin, file_of("", "a.csv"), kind="triplets")
    assert "letter or digit" in post(admin, file_of(ROWS, "a.csv"), kind="triplets", name="–")
    post(admin, file_of(ROWS, "a.csv"), kind="triplets")
    again = post(admin, file_of(ROWS, "a.csv"), kind="triplets")
    assert "already queued or running" in again
    assert len(uploads()) == 1
    done()
    taken = post(admin, file_of(ROWS, "a.csv"), kind="triplets")
    assert "There are triplets “others” already" in taken
    assert uploads() == []


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ANNOTATOR])
def test_only_admins_import(shop: Catalog, role: Role) -> None:
    client = Client()
    client.force_login(User.objects.create_user("other", role=role))
    assert client.get(PAGE).status_code == 403
    sent = {"kind": "triplets", "name": "X", "catalog": shop.pk, "file": file_of(ROWS, "a.csv")}
    assert client.post(PAGE, sent).status_code == 403
    assert not Job.objects.exists()
    if role == Role.RESEARCHER:
        assert PAGE not in client.get("/templates/").text


def test_a_worker_that_is_killed_after_storing_leaves_one_whole_set(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    def killed(*_: Any) -> int:
        raise KilledError

    post(admin, file_of([entry(0), entry(30)], "focus_object.json"))
    with monkeypatch.context() as patch:
        patch.setattr(templates, "make_crops", killed)
        with pytest.raises(KilledError):
            done()
    assert Job.objects.get().state == JobState.RUNNING
    assert TemplateSet.objects.get().templates.count() == 2
    Job.objects.update(state=JobState.QUEUED)
    job = done()
    assert (job.state, job.n_attempts, job.result["templates"]) == (JobState.SUCCEEDED, 2, 2)
    assert TemplateSet.objects.count() == 1
    Job.objects.update(state=JobState.QUEUED)  # killed once more, its upload being dropped
    assert done().state == JobState.SUCCEEDED


def test_a_worker_that_is_killed_while_storing_leaves_nothing_and_begins_anew(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise KilledError

    post(admin, file_of(ROWS, "a.csv"), kind="triplets")
    with monkeypatch.context() as patch:
        patch.setattr(Triplet.objects, "bulk_create", killed)
        with pytest.raises(KilledError):
            done()
    assert not TripletSet.objects.exists()
    Job.objects.update(state=JobState.QUEUED)
    assert done().result["n_triplets"] == 3
    assert Triplet.objects.count() == 3
    Job.objects.update(state=JobState.QUEUED)
    assert done().result["n_triplets"] == 3
    assert TripletSet.objects.count() == 1


def test_an_import_that_failed_can_be_tried_again_once_the_images_are_there(
    admin: Client, shop: Catalog
) -> None:
    file = shop.source_files.get(path="photos/000000000001.jpg")
    shop.source_files.filter(pk=file.pk).update(path="elsewhere.jpg")
    post(admin, file_of(ROWS, "a.csv"), kind="triplets")
    job = done()
    assert "a.csv: 2 of 3 entries cannot go in" in job.error
    shop.source_files.filter(pk=file.pk).update(path=file.path)
    retry_job(job=job)
    assert done().state == JobState.SUCCEEDED


def test_an_import_that_a_command_began_is_not_taken_over(shop: Catalog) -> None:
    Job.objects.create(task="conditional.import_triplets", subject="x", title="x", arguments={})
    assert "run it again" in done().error
