"""`manage.py train RECIPE.toml`: each family of learners becomes models that propose for pools."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.utils import timezone

from accounts.models import User
from catalog.models import Catalog, Projection
from jobs.models import Job, JobState
from learning.embeddings.recipes import CatalogEmbedding
from learning.models import Notion, TrainingRun
from learning.runs.services import start_run
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from tests.catalogs import filled
from tests.learning.spaces import PARENT
from tests.pooling.run_command import printed

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SMALL = {"model": PARENT, "dim": 8, "hidden": 0, "epochs": 1}
SPACE = {"learn": "text-space", "model": PARENT, "caption": ["colour=a {} thing"],
         "columns": ["colour", "view"], "epochs": 10, "name": "Said"}  # fmt: skip
FAMILIES: dict[str, dict[str, Any]] = {
    "ELG": {"columns": ["colour"], "words": "names"},
    "CSN": {"columns": ["colour", "view"], "method": "CSN"},
    "LSN": {"columns": ["colour", "view"], "method": "LSN"},
    "SCE": {"columns": ["colour", "view"], "method": "SCE-Net", "conditions": 3},
    "Discover": {"columns": ["colour", "view"], "method": "DiscoverNet-Set"},
    "Discover-Reg": {"columns": ["colour", "view"], "method": "DiscoverNet-Reg"},
    "Mixture": {"columns": ["colour", "view"], "method": "mixture"},
    "Single": {"columns": ["colour", "view"], "method": "single"},
    "ID": {"columns": ["product"], "method": "fine-tuning"},
    "CAT": {"columns": ["colour"], "method": "fine-tuning"},
    "ID-C": {"columns": ["product", "colour"], "method": "fine-tuning"},
}


def train(folder: Path, *options: str, **said: Any) -> dict[str, Any]:
    path = folder / "recipe.toml"
    path.write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in said.items()))
    return printed("train", path, *options)


def embedding(name: str, **changes: Any) -> dict[str, Any]:
    return {"learn": "embedding", "catalog": "paints", "name": name, **SMALL, **changes}


def test_a_model_of_each_family_is_trained_and_proposes_for_a_pool(
    paints: Catalog, tmp_path: Path
) -> None:
    specs = train(tmp_path, **SPACE, catalog="paints")["models"]
    train(tmp_path, learn="notion", space="said", name="Colour", column="colour", dim=2)
    specs.append("learned:said#colour")
    specs += train(
        tmp_path, learn="combiner", catalog="paints", name="Join", space="said", subject="view",
        columns=["colour"], triplets=50, epochs=1, changes_only=True,
    )["models"]  # fmt: skip
    for name, changes in FAMILIES.items():
        specs += train(tmp_path, **embedding(name, **changes))["models"]
    assert {"learned:lsn#condition-2", "learned:sce#condition-3", "learned:csn#view"} < {*specs}
    assert set(specs) == {one.spec for one in Projection.objects.all()}
    request = PoolRequest(name="All", catalog=paints, specs=specs, k=3, rule=QueryRule(n=4))
    pool = filled(create_pool(request=request, created_by=None))
    proposed = {one.spec: one.proposals.count() for one in pool.sources.all()}
    assert proposed == dict.fromkeys(specs, 12)
    assert all(one.seen_image_ids for one in Projection.objects.all())
    run = TrainingRun.objects.get(slug="sce")
    assert set(run.figures["found"]) == {"colour", "view"}
    best = run.figures["best_heads"]["colour"]
    assert "colour" in Projection.objects.get(slug="sce", head=best).name


def test_a_loss_that_is_no_number_ends_a_run_with_step_and_batch_and_a_worker_s_run_is_left_to_it(
    paints: Catalog, tmp_path: Path, admin: User
) -> None:
    recipe = embedding("Own", columns=["colour"], words="names", weight=1e40)
    with pytest.raises(CommandError, match=r"loss: is inf at step 0 \(batch of images \d+, "):
        train(tmp_path, **recipe)
    assert not Projection.objects.exists()
    other = CatalogEmbedding(("colour",), parent=PARENT)
    run = start_run(catalog=paints, name="Other", recipe=other, owner=admin)
    assert run.job is not None
    Job.objects.filter(pk=run.job.pk).update(
        state=JobState.RUNNING, lease_until=timezone.now() + timedelta(minutes=1)
    )
    with pytest.raises(CommandError, match="Learn the embedding “Other”"):
        train(tmp_path, "--resume", learn="embedding", catalog="paints", name="Other", model=PARENT,
              columns=["colour"])  # fmt: skip


def test_a_run_is_gone_on_with_where_that_is_said_and_a_recipe_that_says_nothing_is_refused(
    paints: Catalog, tmp_path: Path
) -> None:
    made = train(tmp_path, **embedding("Own", columns=["colour"]))
    assert train(tmp_path, "--resume", **embedding("Own", columns=["colour"])) == made
    for options, said, sentence in (
        ([], embedding("Own", columns=["colour"]), "name: there is a run of “Own”; --resume goes"),
        (["--resume"], embedding("Own", columns=["view"]), "another learned model “own”"),
        ([], embedding("New", columns=["colour"], colour="red"), "unrecognized arguments: --col"),
        ([], embedding("New", columns=["colour"], method="magic"), "invalid choice: 'magic'"),
        ([], embedding("New"), "the following arguments are required: --columns"),
        ([], {"learn": "embedding", "catalog": "paints"}, "recipe: says no name"),
        ([], {"learn": "embeding"}, "trains nothing. Did you mean embedding?"),
        ([], {"learn": "notion", "space": "said", "name": "N", "column": "c"}, "no text space is"),
    ):  # fmt: skip
        with pytest.raises(CommandError) as caught:
            train(tmp_path, *options, **said)
        assert sentence in str(caught.value)
    (tmp_path / "recipe.toml").write_text("learn = ")
    with pytest.raises(CommandError, match=r"recipe: recipe.toml: Invalid value"):
        printed("train", tmp_path / "recipe.toml")
    assert TrainingRun.objects.count() == 1
    assert not Notion.objects.exists()
