"""embed, fill_pool and open_campaign, as people and programs call them."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Campaign
from catalog.models import EmbeddingSet, Image
from catalog.vectors.embeddings import load_vectors
from jobs.models import Job, JobState
from lookalike.backbones.loading import best_device
from lookalike.backbones.slow_precision import slow_precision
from pooling.models import Pool, PoolState, Proposal
from tests.catalogs import MODELS
from tests.pooling.run_command import printed, started

pytestmark = pytest.mark.django_db
COLOUR, LAYOUT = MODELS
NO_WEIGHTS = "timm:vit_small_patch8_224.dino"


@pytest.fixture(autouse=True)
def no_downloads(monkeypatch):
    """Weights that are not installed cannot be had, whatever this machine can reach."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def fill(*changes, queries=3):
    return printed(
        "fill_pool", "first", "--catalog", "shoes", "--models", ",".join(MODELS), "-k", 3,
        "--queries", queries, "--seed", 0, *changes,
    )  # fmt: skip


def test_embed_says_what_there_is_and_again_changes_nothing(catalog_of):
    catalog_of(5)
    result = printed("embed", "shoes", "--models", ",".join(MODELS))
    assert [(row["model"], row["images"]) for row in result["embedded"]] == [
        (COLOUR, 5), (LAYOUT, 5),
    ]  # fmt: skip
    assert result["failed"] == []
    before = list(EmbeddingSet.objects.values_list("pk", "shards__sha256"))
    assert printed("embed", "shoes", "--models", ",".join(MODELS)) == result
    assert list(EmbeddingSet.objects.values_list("pk", "shards__sha256")) == before
    assert all(EmbeddingSet.objects.values_list("is_complete", flat=True))


def test_a_command_says_that_a_model_is_slow_here(catalog_of, capsys):
    catalog_of(2)
    spec = "timm:tf_efficientnet_lite0@bfloat16"
    call_command("embed", "shoes", "--models", spec, stdout=io.StringIO())
    slow = slow_precision(spec, best_device().type)  # nothing where there is a unit for it
    assert ("no unit for bfloat16" in capsys.readouterr().err) == bool(slow)


def test_fill_pool_prints_the_figures_of_its_proposals(catalog_of):
    catalog_of(12)
    result = fill()
    pairs = set(Proposal.objects.values_list("query_id", "candidate_id"))
    assert result["queries"] == 3
    assert result["proposals"] == Proposal.objects.count() == 18
    assert result["pairs"] == len(pairs)
    assert result["duplication"] == pytest.approx(1 - len(pairs) / 18)
    assert result["candidates_per_query"]["mean"] == pytest.approx(len(pairs) / 3)
    assert result["brute_force_pairs"] == 3 * (12 - 2)  # without itself and its product's other
    assert result["saving"] == pytest.approx(30 / len(pairs))
    assert result["models"] == MODELS
    shared = 18 - len(pairs)
    assert result["overlap"] == [[1, shared / 9], [shared / 9, 1]]
    assert result["failed"] == []


def nearest_by_hand(pool, spec, *, same_product=False):
    """The oracle: sort every image by its score, take those that may be proposed."""
    found = EmbeddingSet.objects.get(spec=spec, catalog=pool.catalog)
    ids, vectors = load_vectors(found)
    products = dict(Image.objects.values_list("pk", "product_id"))
    place = {int(pk): row for row, pk in enumerate(ids)}
    expected = {}
    for query in pool.queries.values_list("image_id", flat=True):
        scores = np.asarray(vectors, np.float64) @ np.asarray(vectors[place[query]], np.float64)
        allowed = [
            (-scores[row], row)
            for row, pk in enumerate(ids)
            if pk != query and (same_product or products[int(pk)] != products[query])
        ]
        expected[query] = [int(ids[row]) for _, row in sorted(allowed)[: pool.k]]
    return expected


@pytest.mark.parametrize("options", [[], ["--same-product"]])
def test_each_model_proposes_its_nearest_without_itself_and_its_product(catalog_of, options):
    catalog_of(12)
    fill(*options)
    pool = Pool.objects.get()
    for source in pool.sources.all():
        proposed: dict[int, list[int]] = {}
        for proposal in source.proposals.order_by("query_id", "rank"):
            assert proposal.rank == len(proposed.setdefault(proposal.query_id, []))
            proposed[proposal.query_id].append(proposal.candidate_id)
        assert proposed == nearest_by_hand(pool, source.spec, same_product=bool(options))


def test_wild_queries_are_not_answered_with_the_same_file(catalog_of):
    catalog_of(12)
    catalog_of(4, slug="wild", first_seed=10)  # its first two files are in the other one too
    result = fill("--query-catalog", "wild", queries="all")
    assert result["queries"] == 4
    assert result["brute_force_pairs"] == 4 * 12 - 2
    content = dict(Image.objects.values_list("pk", "sha256"))
    for query, candidate in Proposal.objects.values_list("query_id", "candidate_id"):
        assert content[query] != content[candidate]
    assert set(Proposal.objects.values_list("candidate__catalog__slug")) == {("shoes",)}


def test_a_file_of_queries_and_filters(catalog_of, tmp_path):
    catalog_of(12)
    listed = tmp_path / "queries.txt"
    listed.write_text("photos/004.jpg\n# a remark\nphotos/000.jpg\nphotos/003.jpg\n")
    result = fill("--filter", "colour=red", "--filter", "colour=green", queries=listed)
    assert result["queries"] == 3
    Pool.objects.get().delete()
    assert fill("--filter", "colour=red", queries=listed)["queries"] == 2


def test_the_same_command_again_adds_nothing(catalog_of):
    catalog_of(12)
    first = fill()
    before = list(Proposal.objects.values_list())
    n_jobs = Job.objects.count()
    assert fill() == first
    assert list(Proposal.objects.values_list()) == before
    assert Job.objects.count() == n_jobs


def test_another_command_of_the_same_name_is_refused_with_the_difference(catalog_of):
    catalog_of(12)
    fill()
    with pytest.raises(CommandError, match=r"already, with queries a random sample of 3"):
        fill(queries=4)


def test_a_model_without_weights_fails_by_name_and_the_others_go_on(catalog_of):
    catalog_of(12)
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="1 of 3 models failed"):
        call_command(
            "fill_pool", "first", "--catalog", "shoes", "--queries", "3", "-k", "3", "--json",
            "--models", ",".join([COLOUR, NO_WEIGHTS, LAYOUT]), stdout=out, stderr=err,
        )  # fmt: skip

    result = json.loads(out.getvalue())
    assert result["models"] == MODELS
    assert [row["model"] for row in result["failed"]] == [NO_WEIGHTS]
    assert NO_WEIGHTS in result["failed"][0]["error"]
    assert Pool.objects.get().state == PoolState.PARTIAL
    assert Job.objects.filter(state=JobState.FAILED).count() == 1


def test_an_error_of_one_model_is_recorded_and_the_others_go_on(catalog_of, settings):
    catalog_of(12)
    image = Image.objects.order_by("sha256").first()
    assert image is not None
    path = settings.DATA_DIR / "blobs" / "original" / image.sha256[:2] / image.sha256
    path.write_bytes(b"\xff\xd8\xff broken on disk")
    out, err = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="2 of 2 models failed"):
        call_command(
            "fill_pool", "first", "--catalog", "shoes", "--queries", "3", "-k", "3",
            "--models", ",".join(MODELS), stdout=out, stderr=err,
        )  # fmt: skip
    assert image.source_files.get().path in err.getvalue()
    assert "no model has proposed" in out.getvalue()
    assert Pool.objects.get().state == PoolState.FAILED
    assert not Proposal.objects.exists()
    assert not EmbeddingSet.objects.filter(is_complete=True).exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("embed nowhere --models descriptor:hog-shape", "catalog: no catalog is called 'nowhere'"),
        ("embed shoes --models hog-shape", "models: 'hog-shape' names no backbone"),
        ("embed shoes --models descriptor:hog-shap", "Did you mean descriptor:hog-shape"),
        ("fill_pool p --catalog shoe --queries 3 --models offline", "there is shoes"),
        ("fill_pool p --catalog shoes --queries 3 --models offline -k 0", "k: 0 .* 1 to 11"),
        ("fill_pool p --catalog shoes --queries 3 --models offline -k 12", "k: 12 .* 1 to 11"),
        ("fill_pool p --catalog shoes --queries 0 --models offline", "queries: 0"),
        ("fill_pool p --catalog shoes --queries -1 --models offline", "queries: -1"),
        ("fill_pool p --catalog shoes --queries 13 --models offline", "queries: .*only 12"),
        ("fill_pool p --catalog shoes --queries nowhere.txt --models offline", "nowhere.txt"),
        (
            "fill_pool p --catalog shoes --queries 3 --models offline --filter colour=mauve",
            "queries: no image .*colour = mauve",
        ),
        (
            "fill_pool p --catalog shoes --queries 3 --models offline --filter mauve",
            "filter: 'mauve' is not a filter",
        ),
        (
            "fill_pool p --catalog shoes --query-catalog x --queries 3 --models offline",
            "query catalog: no catalog is called 'x'",
        ),
        (
            "fill_pool p --catalog shoes --query-catalog shoes --queries 3 --models offline",
            "query catalog: leave it empty",
        ),
        ("open_campaign c --pool nowhere --panel anna", "pool: no pool is called 'nowhere'"),
    ],
)
def test_bad_input_is_refused_by_field_before_anything_is_made(catalog_of, command, words):
    catalog_of(12)
    with pytest.raises(CommandError, match=words):
        call_command(*command.split())
    assert not Pool.objects.exists()
    assert not EmbeddingSet.objects.exists()
    assert not Job.objects.exists()


def test_an_unknown_model_of_a_library_is_answered_with_near_ones(catalog_of):
    catalog_of(12)
    arguments = {"catalog": "shoes", "queries": "3", "k": 3, "models": "timm:resnet5"}
    with pytest.raises(CommandError, match="Did you mean resnet50"):
        call_command("fill_pool", "p", **arguments, stdout=io.StringIO(), stderr=io.StringIO())
    assert not Job.objects.exists()


def test_open_campaign_puts_every_pair_to_the_panel(catalog_of, annotators):
    catalog_of(12)
    n_pairs = fill()["pairs"]
    result = printed(
        "open_campaign", "Round one", "--pool", "first", "--panel", "cleo, anna", "--tie",
        "undecided",
    )  # fmt: skip
    assert result == {
        "campaign": "round-one",
        "pool": "first",
        "pairs": n_pairs,
        "panel": ["cleo", "anna"],
        "state": "open",
        "judgements_wanted": 2 * n_pairs,
        "tie": "undecided",
        "order": "shuffled",
        "grades": [],
        "notion": "",
    }
    assert Campaign.objects.get().is_open


def test_open_campaign_keeps_a_draft_closed(catalog_of, annotators):
    catalog_of(12)
    fill()
    result = printed("open_campaign", "One", "--pool", "first", "--panel", "cleo,anna", "--draft")
    assert result["state"] == Campaign.objects.get().state == "draft"


@pytest.mark.parametrize(
    ("panel", "words"),
    [
        ("anna,nina", "panel: nobody here is called nina"),
        ("anna,ada", "panel: ada is admin, not annotator"),
        ("anna,anna", "panel: somebody is named twice"),
    ],
)
def test_a_wrong_panel_opens_nothing(catalog_of, annotators, admin, panel, words):
    catalog_of(12)
    fill()
    with pytest.raises(CommandError, match=words):
        call_command("open_campaign", "c", "--pool", "first", "--panel", panel)
    assert not Campaign.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_as_a_process_stdout_is_one_object_and_failure_has_an_exit_code(catalog_of):
    catalog_of(3)
    good = started("embed", "shoes", "--models", COLOUR, "--json")
    out, err = good.communicate(timeout=120)
    assert good.returncode == 0, err
    assert len(out.splitlines()) == 1
    bad = started("embed", "shoes", "--models", "nonsense", "--json")
    out, err = bad.communicate(timeout=120)
    assert (bad.returncode, out) == (1, "")
    assert "names no backbone" in err


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_pool_says_whether_product_ids_are_shared(catalog_of, is_shared):
    catalog_of(6)
    catalog_of(2, "wild", 50)
    flags = ["--shared-product-ids"] if is_shared else []
    fill("--query-catalog", "wild", *flags, queries=2)
    assert Pool.objects.get().shared_product_ids == is_shared
    with pytest.raises(CommandError, match="shared product ids"):
        fill("--query-catalog", "wild", *([] if is_shared else ["--shared-product-ids"]), queries=2)


def test_shared_product_ids_need_another_catalog(catalog_of):
    catalog_of(6)
    with pytest.raises(CommandError, match="another catalog"):
        fill("--shared-product-ids")
