"""A text space is learned from a catalog's attributes, whole or not at all, and is a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from catalog.images.blobs import blob_path
from catalog.models import Catalog, EmbeddingSet, Image, Projection
from catalog.vectors.embeddings import load_vectors, shard_path
from catalog.vectors.projections import layers_path, read_layers, read_projection, seen_among
from jobs.models import Job
from jobs.services import JobError, JobLostError
from learning.models import Notion, TextSpace, TrainingRun
from learning.notions.services import delete_notion
from learning.runs.checkpoints import checkpoint_folder
from learning.runs.services import create_run, delete_run
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.core.errors import Refused
from lookalike.pooling.query_rule import QueryRule
from pooling.new_pool.requests import PoolRequest
from pooling.pools.services import create_pool
from tests.catalogs import add_photo, filled
from tests.learning.spaces import PARENT, RECIPE, learned_space, work_on
from tests.pictures import jpeg
from tests.pooling.run_command import printed

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_captions_find_colours_of_products_that_were_held_out(space):
    scores = {score.column: score for score in space.run.scores}
    assert scores["colour"].was_captioned
    assert scores["colour"].accuracy >= scores["colour"].majority + 0.3
    assert not scores["view"].was_captioned
    assert space.run.figures["n_seen"] + space.run.figures["n_held_out"] == 72
    assert space.run.curve[0][1] > space.run.curve[-1][1]
    assert not checkpoint_folder(space.run).exists()


def test_the_space_has_the_vectors_of_its_catalog_without_a_look_at_a_picture(space, paints):
    parent = EmbeddingSet.objects.get(spec=PARENT)
    made = EmbeddingSet.objects.get(spec="learned:paints")
    assert made.is_complete
    (ids, vectors), (parent_ids, parents) = load_vectors(made), load_vectors(parent)
    assert ids.tolist() == parent_ids.tolist()
    layers = read_layers(space.projection.sha256)
    expected = layers.apply(np.asarray(parents, np.float32)).astype(np.float16)
    assert vectors.tobytes() == expected.tobytes()


def test_a_run_cut_short_anywhere_ends_in_the_bytes_of_one_that_was_not(paints):
    undisturbed = learned_space(paints)
    wanted = (undisturbed.projection.sha256, undisturbed.texts_sha256)
    delete_run(run=undisturbed.run)
    run = create_run(catalog=paints, name="Again", recipe=RECIPE, created_by=None)

    def stop_at(step):
        steps = {step}  # once: what was last written of a lost job may be this very step

        def on_change(job: Job) -> None:
            if job.n_total == RECIPE.epochs and job.n_done in steps:
                steps.clear()
                raise JobLostError

        return on_change

    for step in (3, 27, 44):
        with pytest.raises(JobError):
            work_on(run, on_change=stop_at(step))
        assert not TextSpace.objects.exists()
        Job.objects.all().delete()
    assert list(checkpoint_folder(run).rglob("checkpoint.safetensors"))
    work_on(run)
    space = TextSpace.objects.get()
    assert (space.projection.sha256, space.texts_sha256) == wanted


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"columns": ("maker",)}, "columns: no image has 'maker'; there is "),
    ({"columns": ("one",)}, "columns: 'one' has 1 value; 2 to 200 can be learnt"),
    ({"captions": {"colour": "red"}}, "template of colour: 'red' must have {} once"),
    ({"parent": "nonsense"}, "model: 'nonsense' names no backbone."),
    ({"epochs": 0}, "epochs: 0 is not from 1 to 1,000."),
    ({"seed": -1}, "seed: -1 is below 0."),
]


def test_a_recipe_that_cannot_be_is_refused_and_leaves_nothing(paints):
    for image in paints.images.all():
        Image.objects.filter(pk=image.pk).update(attributes={**image.attributes, "one": "1"})
    for changes, sentence in REFUSED:
        recipe = SpaceRecipe(**{"parent": PARENT, **changes})
        with pytest.raises(Refused) as caught:
            create_run(catalog=paints, name="Paints", recipe=recipe, created_by=None)
        assert sentence in str(caught.value)
    assert not TrainingRun.objects.exists()


def test_a_catalog_without_attributes_or_images_has_no_text_space(paints):
    paints.images.update(attributes={})
    with pytest.raises(Refused, match="no attribute has two values or more"):
        create_run(catalog=paints, name="Paints", recipe=SpaceRecipe(), created_by=None)
    empty = Catalog.objects.create(slug="empty", name="Empty")
    with pytest.raises(Refused, match="“Empty” has no images"):
        create_run(catalog=empty, name="Empty", recipe=SpaceRecipe(), created_by=None)


def test_a_learned_model_pools_without_a_picture_and_stays_until_the_pool_goes(
    space, paints, notion_of
):
    notion = notion_of()
    assert notion.spec == "learned:paints#colour"
    for image in paints.images.all():
        blob_path(image.sha256, "original").unlink()
    request = PoolRequest(
        name="By colour", catalog=paints, specs=["learned:paints#colour", "learned:paints"],
        k=5, rule=QueryRule(n=6), exclude_same_product=True,
    )  # fmt: skip
    pool = filled(create_pool(request=request, created_by=None))
    colour_of = {image.pk: image.attributes["colour"] for image in paints.images.all()}
    proposals = pool.sources.get(position=0).proposals.values_list("query_id", "candidate_id")
    same = [colour_of[query] == colour_of[candidate] for query, candidate in proposals]
    assert len(same) == 30
    assert sum(same) >= 25
    with pytest.raises(Refused, match="the pool “By colour” uses learned:paints#colour"):
        delete_notion(notion=notion)
    with pytest.raises(Refused, match="1 notion is said in it; delete it first"):
        delete_run(run=space.run)


def test_an_unknown_learned_model_is_refused_with_those_that_there_are(space, paints):
    request = PoolRequest(
        name="P", catalog=paints, specs=["learned:paints#cut"], k=3, rule=QueryRule(n=2)
    )
    with pytest.raises(Refused, match="called 'learned:paints#cut'; there is learned:paints"):
        create_pool(request=request, created_by=None)


def test_pictures_that_came_later_get_vectors_by_the_parent_and_the_map(space, paints):
    new = add_photo(paints, 500, jpeg(seed=9))
    printed("embed", paints.slug, "--models", "learned:paints")
    made = EmbeddingSet.objects.get(spec="learned:paints")
    assert new.pk in load_vectors(made)[0]
    assert len(load_vectors(made)[0]) == 73


def test_weights_that_changed_since_are_named(space, paints):
    Projection.objects.update(parent_fingerprint="0" * 64)
    with pytest.raises(Exception, match="are not those it was learned with"):
        printed("embed", paints.slug, "--models", "learned:paints")


@pytest.mark.parametrize("damage", ["missing", "changed"])
def test_a_damaged_map_is_named_and_no_vector_stored(space, paints, damage):
    path = layers_path(space.projection.sha256)
    path.unlink() if damage == "missing" else path.write_bytes(b"x")
    read_projection.cache_clear()
    EmbeddingSet.objects.filter(spec="learned:paints").delete()
    with pytest.raises(Exception, match=damage):
        printed("embed", paints.slug, "--models", "learned:paints")
    assert not EmbeddingSet.objects.filter(spec="learned:paints").exists()


def test_a_damaged_shard_of_the_parent_is_embedded_again_first(space, paints):
    parent = EmbeddingSet.objects.get(spec=PARENT)
    before = load_vectors(EmbeddingSet.objects.get(spec="learned:paints"))[1].tobytes()
    (shard,) = parent.shards.all()
    shard_path(shard.sha256).write_bytes(b"x")
    for path in shard_path("merged").parent.parent.glob("merged/*"):
        path.unlink()
    printed("embed", paints.slug, "--models", "learned:paints")
    again = EmbeddingSet.objects.get(spec="learned:paints")
    assert load_vectors(again)[1].tobytes() == before


def test_a_model_has_seen_the_pictures_whose_captions_it_learned(space, paints):
    hashes = list(paints.images.values_list("sha256", flat=True))
    seen = seen_among("learned:paints", hashes)
    assert len(seen) == space.run.figures["n_seen"]
    products = dict(paints.images.values_list("sha256", "product_id"))
    held_out = {products[sha256] for sha256 in hashes if sha256 not in seen}
    assert held_out.isdisjoint(products[sha256] for sha256 in seen)
    assert seen_among(PARENT, hashes) == set()


def test_deleting_a_space_takes_its_model_and_vectors(space):
    delete_run(run=space.run)
    assert not Projection.objects.exists()
    assert not EmbeddingSet.objects.filter(spec="learned:paints").exists()


def test_the_command_learns_and_says_what_guessing_would_get(paints):
    found = printed(
        "learn_text_space", "paints", "--model", PARENT, "--columns", "colour",
        "--caption", "colour=a {} thing", "--epochs", "60",
    )  # fmt: skip
    assert found["model"] == "learned:paints"
    accuracies = {row["column"]: row["accuracy"] for row in found["attributes"]}
    assert accuracies["colour"] > 0.5
    notion = printed(
        "learn_notion", "paints", "Colour", "--words", "red, green, blue", "--dim", "2"
    )
    assert notion["model"] == "learned:paints#colour"
    shade = printed("learn_notion", "paints", "Shade", "--column", "colour", "--dim", "2")
    assert shade["model"] == "learned:paints#shade"
    prompts = Notion.objects.get(projection__head="shade").prompts
    assert "a red thing" in prompts
    for column in ("maker", "colour__x", 'it\'s a "size" %s'):
        with pytest.raises(Exception, match="has no value in “Paints”; a notion needs two"):
            printed("learn_notion", "paints", "Other", "--column", column)
    table = printed(
        "score_notions", "paints", "--space", "paints", "--columns", "colour", "--dim", "2",
        "--repetitions", "1", "--methods", "random,raw,span of the prompts", "--sweep-dims", "3",
        "--sweep-prompts", "2",
    )  # fmt: skip
    kinds = [(row["method"], row["dim"], row["n_prompts"]) for row in table["notions"]]
    n = kinds[0][2]
    assert kinds[3:] == [("InDiReCT", 3, n), ("InDiReCT", 2, 2)]
    assert [kind[0] for kind in kinds[:3]] == ["random", "raw", "span of the prompts"]
