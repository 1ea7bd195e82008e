"""An embedding is learned from a catalog's classes or products, and is a model like any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from catalog.models import Catalog, EmbeddingSet, Image, Projection
from catalog.vectors.embeddings import load_vectors
from catalog.vectors.projections import read_layers, seen_among
from jobs.models import Job
from jobs.services import JobError, JobLostError
from learning.embeddings.learn import CLASSIFIER
from learning.embeddings.recipes import CatalogEmbedding
from learning.models import TrainingRun
from learning.runs.checkpoints import checkpoint_folder
from learning.runs.services import create_run, delete_run, run_as_asked
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from tests.catalogs import filled
from tests.learning.spaces import PARENT, work_on
from tests.pooling.run_command import printed

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

RECIPE = CatalogEmbedding(("colour",), dim=8, hidden=16, epochs=20, parent=PARENT)
CONDITIONS = replace(RECIPE, columns=("colour", "view"), method="CSN", epochs=4)


def learned(catalog: Catalog, recipe: CatalogEmbedding = RECIPE, **options: Any) -> Projection:
    """Learn an embedding in this process, as a worker does."""
    work_on(run_as_asked(catalog=catalog, name="Own", recipe=recipe), **options)
    return Projection.objects.get(slug="own", head="")


def delete() -> None:
    delete_run(run=TrainingRun.objects.get())


def test_it_has_vectors_of_its_catalog_and_says_how_well_it_does_on_products_held_out(paints):
    made = learned(paints)
    before, after = made.card["found_on_held_out"]["colour"]
    assert after > 0.4  # of three colours, by histograms of few bins in common
    assert before is not None
    assert made.card["method"] == "metric learning"
    run = TrainingRun.objects.get()
    assert run.figures["found"] == {"colour": [before, after]}
    assert run.curve[0][1] > run.curve[-1][1]
    assert not checkpoint_folder(run).exists()
    parent, own = (EmbeddingSet.objects.get(spec=spec) for spec in (PARENT, "learned:own"))
    assert own.is_complete
    (ids, parents), (own_ids, vectors) = load_vectors(parent), load_vectors(own)
    assert ids.tolist() == own_ids.tolist()
    expected = read_layers(made.sha256).apply(np.asarray(parents, np.float32))
    assert vectors.tobytes() == expected.astype(np.float16).tobytes()


def test_it_has_seen_the_images_that_it_learned_from_and_no_product_by_half(paints):
    made = learned(paints)
    seen = set(made.seen_image_ids)
    assert len(seen) == made.card["n_images"] == 72 - made.card["held_out"]["n_images"]
    products = dict(paints.images.values_list("pk", "product_id"))
    held_out = {product for pk, product in products.items() if pk not in seen}
    assert held_out
    assert held_out.isdisjoint(products[pk] for pk in seen)
    hashes = paints.images.values_list("sha256", flat=True)
    assert len(seen_among("learned:own", list(hashes))) == len(seen)


def test_one_cut_short_anywhere_ends_in_the_bytes_of_one_that_was_not(paints):
    undisturbed = learned(paints)
    wanted, n_steps = undisturbed.sha256, undisturbed.card["steps"]
    delete()

    def stop_at(step):
        steps = {step}

        def on_change(job: Job) -> None:
            if job.n_total == n_steps and job.n_done in steps:
                steps.clear()
                raise JobLostError

        return on_change

    for step in (3, 25, n_steps - 2):
        with pytest.raises(JobError):
            learned(paints, on_change=stop_at(step))
        assert not Projection.objects.exists()
        Job.objects.all().delete()
    assert TrainingRun.objects.get().curve, "what it has come to so far"
    assert learned(paints).sha256 == wanted


def test_asked_for_again_it_is_there_and_another_of_its_name_is_refused(paints):
    made = learned(paints)
    assert learned(paints).pk == made.pk
    with pytest.raises(Refused, match="there is another learned model “own”"):
        learned(paints, replace(RECIPE, seed=1))


def test_it_proposes_for_a_pool_and_stays_until_the_pool_goes(paints):
    learned(paints, CONDITIONS)
    specs = ["learned:own", "learned:own#colour"]
    request = PoolRequest(
        name="Own", catalog=paints, specs=specs, k=5, rule=QueryRule(n=6), exclude_same_product=True
    )
    pool = filled(create_pool(request=request, created_by=None))
    assert [source.spec for source in pool.sources.order_by("position")] == specs
    assert [source.proposals.count() for source in pool.sources.all()] == [30, 30]
    with pytest.raises(Refused, match="the pool “Own” uses learned:own"):
        delete()


def test_deleted_it_takes_its_vectors_along(paints):
    learned(paints)
    delete()
    assert not Projection.objects.exists()
    assert not EmbeddingSet.objects.filter(spec="learned:own").exists()


def test_each_condition_has_a_head_and_all_go_together(paints):
    made = learned(paints, CONDITIONS)
    heads = {one.head: one for one in Projection.objects.exclude(head="")}
    assert set(heads) == {"colour", "view"}
    assert {one.spec for one in heads.values()} == {"learned:own#colour", "learned:own#view"}
    assert heads["colour"].seen_image_ids == made.seen_image_ids
    assert len({made.sha256, *(one.sha256 for one in heads.values())}) == 3
    vectors = load_vectors(EmbeddingSet.objects.get(spec=PARENT))[1].astype(np.float32)
    assert read_layers(heads["colour"].sha256).apply(vectors).shape == (72, 8)
    assert set(TrainingRun.objects.get().figures["found"]) == {"colour", "view"}
    delete()
    assert not Projection.objects.exists()


def test_words_guide_it(paints):
    for words in ("names", "pseudolabels"):
        made = learned(paints, replace(RECIPE, words=words, epochs=2))
        assert made.card["guidance"]["weight"] == 10
        delete()
    assert EmbeddingSet.objects.get(spec=CLASSIFIER).is_complete


def test_the_command_fine_tunes_on_products_and_colours(paints):
    found = printed(
        "learn_embedding", "paints", "Both", "--columns", "product,colour", "--method",
        "fine-tuning", "--model", PARENT, "--dim", "8", "--hidden", "0", "--epochs", "3",
    )  # fmt: skip
    assert found["model"] == "learned:both"
    assert found["card"]["labels"]["colour"] == 3
    assert set(found["card"]["found_on_held_out"]) == {"product", "colour"}


def test_the_command_holds_out_classes_and_says_what_was_learned_from(paints):
    found = printed(
        "learn_embedding", "paints", "Apart", "--columns", "product", "--hold-out", "classes",
        "--model", PARENT, "--dim", "8", "--hidden", "0", "--epochs", "1",
    )  # fmt: skip
    held_out = TrainingRun.objects.get().figures["held_out"]
    assert found["card"]["held_out"] == held_out
    assert held_out["unit"] == "classes"
    n_asked, n_seen = held_out["classes"]["product"]
    assert (n_asked > 1, n_seen) == (True, 0)


def test_the_command_has_the_options_of_discovernet(paints):
    found = printed(
        "learn_embedding", "paints", "Guess", "--columns", "colour,view", "--method",
        "DiscoverNet-Reg", "--squared", "--cosine", "--temperature", "0.1", "--residual",
        "--train-branch", "--model", PARENT, "--dim", "4", "--hidden", "0", "--epochs", "1",
    )  # fmt: skip
    recipe = found["card"]["recipe"]
    names = ("is_squared", "is_cosine", "is_residual", "is_branch_trained", "temperature")
    assert [recipe[name] for name in names] == [True] * 4 + [0.1]


def test_the_command_learns_conditions(paints):
    found = printed(
        "learn_embedding", "paints", "Kinds", "--columns", "colour,view", "--method", "CSN",
        "--model", PARENT, "--dim", "4", "--hidden", "0", "--epochs", "1",
    )  # fmt: skip
    assert found["models"] == ["learned:kinds", "learned:kinds#colour", "learned:kinds#view"]


def test_classes_of_one_image_are_left_out_and_counted(paints):
    first = paints.images.order_by("pk").first()
    for image in paints.images.filter(product_id=first.product_id):
        Image.objects.filter(pk=image.pk).update(product_id="alone " + str(image.pk))
    found = printed(
        "learn_embedding", "paints", "Products", "--columns", "product", "--model", PARENT,
        "--dim", "4", "--hidden", "0", "--epochs", "1", "--seed", "1",
    )  # fmt: skip
    held_out = found["card"]["held_out"]["n_images"]
    assert found["card"]["n_images"] + found["card"]["n_classes_left_out"] + held_out == 72
    assert found["card"]["n_classes_left_out"] <= 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"columns": ("maker",)}, "no image of “Paints” has 'maker'"),
        ({"columns": ("one",)}, "columns: fewer than two values of one are on two images"),
        ({"columns": ("product", "view")}, "columns: fewer than two values of product and view"),
        ({"columns": ("colour", "Colour"), "method": "CSN"}, "columns: two conditions would have"),
        ({"parent": "nonsense"}, "model: 'nonsense' names no backbone"),
        ({"hold_out": "classes"}, "hold_out: colour has 3 classes of two images or more"),
        ({"epochs": 5_000}, "epochs: 5000 is not from 1 to 1,000"),
        ({"dim": 99_999}, "dim: and hidden are at most 4,096"),
        ({"name": "!"}, "name: give a name with at least one letter"),
        ({"name": "Compare"}, "name: that word is part of an address here"),
    ],
)
def test_what_cannot_be_learned_is_refused(paints, changes, sentence):
    for image in paints.images.all():
        said = {**image.attributes, "one": "1", "Colour": image.attributes["colour"]}
        Image.objects.filter(pk=image.pk).update(attributes=said)
    asked = dict(changes)
    name = asked.pop("name", "Own")
    recipe = replace(RECIPE, **asked)
    with pytest.raises(Refused) as caught:
        create_run(catalog=paints, name=name, recipe=recipe, created_by=None)
    assert sentence in str(caught.value)
    assert not TrainingRun.objects.exists()


def test_a_name_of_a_text_space_is_refused(space, paints):
    with pytest.raises(Refused, match="there is another learned model “paints”"):
        create_run(catalog=paints, name="Paints", recipe=RECIPE, created_by=None)
