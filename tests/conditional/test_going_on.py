"""Builds and imports that are cut short after storing go on, and store their set once."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Role
from conditional import tasks
from conditional.management.commands import build_templates
from conditional.models import TemplateSet, TripletSet
from conditional.template_sets.services import request_build
from conditional.triplets import suggest
from conditional.triplets.suggest import request_suggestion
from conditional.uploads import templates, triplets
from jobs.models import Job, JobState
from jobs.services import retry_job
from jobs.work import running
from lookalike.conditional.suggestions import SuggestRecipe
from tests.catalogs import SPLIT, pool_over
from tests.conditional.cases import entry, recipe_of
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db
ROWS = "anchor,closer,farther\n0,1,2\n3,4,5\n"


def interrupt(*_, **__):
    raise KeyboardInterrupt


def interrupted(monkeypatch, module, function, *command):
    """Give a command and press Ctrl-C when it comes to a function."""
    with monkeypatch.context() as patched:
        patched.setattr(module, function, interrupt)
        with pytest.raises(CommandError, match="the same command goes on from there"):
            call_command(*map(str, command))
    assert Job.objects.latest("pk").state == JobState.CANCELLED


def cut_short(monkeypatch, task, job):
    """Do a job and lose its worker before it can say that it is done."""
    with monkeypatch.context() as patched:
        patched.setattr(running, "_finish", lambda *_, **__: None)
        task(str(job.uid))
    past = timezone.now() - timedelta(seconds=1)
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, lease_until=past)


def test_an_interrupted_import_of_templates_goes_on(catalog, write, monkeypatch):
    command = ("import_templates", "Objects", write([entry(0)]), "--catalog", "shop")
    interrupted(monkeypatch, templates, "make_crops", *command)
    [stored] = TemplateSet.objects.all()
    result = printed(*command)
    assert (result["set"], result["templates"], result["n_left_out"]) == ("objects", 1, 0)
    assert TemplateSet.objects.get() == stored
    with pytest.raises(CommandError, match="there is a set “objects” already"):
        call_command(*command)


def test_what_was_asked_otherwise_does_not_go_on(catalog, write, monkeypatch):
    path = write([entry(0)])
    command = ("import_templates", "Objects", path, "--catalog", "shop")
    interrupted(monkeypatch, templates, "make_crops", *command)
    with pytest.raises(CommandError, match="already"):
        call_command(*command, "--keep-good")
    path.write_text(path.read_text().replace("chair", "table"))
    with pytest.raises(CommandError, match="already"):
        call_command(*command)


def test_an_interrupted_import_of_triplets_goes_on(catalog, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(ROWS)
    command = ("import_triplets", "Eggs", path, "--catalog", "shop")
    interrupted(monkeypatch, triplets, "_figures", *command)
    result = printed(*command)
    assert (result["n_triplets"], TripletSet.objects.get().triplets.count()) == (2, 2)
    with pytest.raises(CommandError, match="there are triplets “eggs” already"):
        call_command(*command)


def test_an_interrupted_suggestion_goes_on(made, monkeypatch):
    pool_over(made, SPLIT)
    command = ("suggest_triplets", "Split", "--pool", "mine")
    interrupted(monkeypatch, suggest, "_figures", *command)
    result = printed(*command)
    assert (result["set"], result["n_questions"]) == ("split", 2)
    assert TripletSet.objects.count() == 1


def test_a_build_whose_worker_was_lost_after_storing_succeeds(catalog, people, monkeypatch):
    [owner] = people(1, Role.ADMIN)
    job = request_build(catalog=catalog, name="Other", recipe=recipe_of(), owner=owner)
    cut_short(monkeypatch, tasks.build, job)
    stored = TemplateSet.objects.get()
    tasks.build(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.SUCCEEDED, "")
    assert (job.result["templates"], TemplateSet.objects.get()) == (30, stored)


def test_a_suggestion_whose_worker_was_lost_after_storing_succeeds(
    made,
    people,
    monkeypatch,
):
    pool_over(made, SPLIT)
    recipe = SuggestRecipe(pool="mine")
    [owner] = people(1, Role.ADMIN)
    job = request_suggestion(catalog=made, name="Split", recipe=recipe, owner=owner)
    cut_short(monkeypatch, tasks.suggest, job)
    tasks.suggest(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.result["n_questions"]) == (JobState.SUCCEEDED, 2)
    assert TripletSet.objects.count() == 1


def of_vaw(files, *more):
    path, types = files
    given = ("build_templates", "V", "--catalog", "files", "--task", "change_attribute", "--vaw",
             path, "--types", types, "--n", 4, "--keep-good")  # fmt: skip
    return (*given, *more)


def test_an_interrupted_build_of_a_file_goes_on(vaw, monkeypatch):
    interrupted(monkeypatch, templates, "make_crops", *of_vaw(vaw))
    result = printed(*of_vaw(vaw))
    assert (result["templates"], result["crops"]) == (4, 4 * 16)
    assert TemplateSet.objects.count() == 1
    with pytest.raises(CommandError, match="already"):
        call_command(*map(str, of_vaw(vaw)))


def test_a_worker_goes_on_with_a_build_of_a_file(vaw, monkeypatch):
    interrupted(monkeypatch, build_templates, "build_file_set", *of_vaw(vaw))
    job = Job.objects.get()
    retry_job(job=job)
    tasks.build(str(job.uid))
    job.refresh_from_db()
    assert (job.state, job.error, job.result["templates"]) == (JobState.SUCCEEDED, "", 4)
    assert TemplateSet.objects.get().source == "vaw"


def test_a_worker_refuses_a_file_that_has_changed(vaw, monkeypatch):
    interrupted(monkeypatch, build_templates, "build_file_set", *of_vaw(vaw))
    vaw[1].write_text(vaw[1].read_text() + " ")
    job = Job.objects.get()
    retry_job(job=job)
    tasks.build(str(job.uid))
    job.refresh_from_db()
    assert (job.state, TemplateSet.objects.count()) == (JobState.FAILED, 0)
    assert "it has changed since this was asked for" in job.error
