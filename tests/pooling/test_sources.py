"""Sources that are no backbones propose as backbones do: rankings, vectors, chance, plug-ins."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from catalog.models import EmbeddingSet, Image
from jobs.models import Job, JobState
from jobs.services import JobError, run_job
from lookalike.core.errors import Refused
from pooling.models import Pool, Proposal
from pooling.pools.services import start_source
from pooling.sources.fill import run_source
from pooling.sources.plugins import load_plugin
from pooling.sources.ranking_task import RankingTask
from pooling.sources.upload_services import keep_embeddings, keep_ranking
from tests.catalogs import catalog_of_photos
from tests.pooling.cases import npz, upload
from tests.pooling.plugin_models import Brightness

pytestmark = pytest.mark.django_db
HERE = "tests.pooling.plugin_models"


def propose(pool: Pool, spec: str) -> Job:
    """Let one source propose, as a worker does; an error of the program is in the job too."""
    job = start_source(source=pool.sources.get(spec=spec), owner=None)
    with suppress(RuntimeError):
        run_job(job.uid, lambda p: run_source(progress=p, **job.arguments))
    return Job.objects.get(pk=job.pk)


def ranked(pool: Pool, spec: str, query: Image) -> list[int]:
    rows = Proposal.objects.filter(source__pool=pool, source__spec=spec, query=query)
    return list(rows.order_by("rank").values_list("candidate_id", flat=True))


def test_a_ranking_proposes_in_the_order_of_its_scores_without_the_query_s_own_product(pool_of):
    draft = pool_of(name="draft")
    images = list(draft.catalog.images.order_by("pk"))
    lines = [
        f"{row.image.uid} Q0 photos/{number:03d}.jpg 1 {number / 10} run"
        for row in draft.queries.select_related("image")
        for number in range(12)
    ]
    kept = keep_ranking(
        name="by-number", file=upload("r.trec", "\n".join(lines)), task=RankingTask.of(draft)
    )
    pool = pool_of(name="p", catalog=draft.catalog, specs=[], uploads=[kept])
    assert propose(pool, "ranking:by-number").state == JobState.SUCCEEDED
    for row in pool.queries.select_related("image"):
        others = [i for i in reversed(images) if i.product_id != row.image.product_id]
        assert ranked(pool, "ranking:by-number", row.image) == [i.pk for i in others[:3]]
    source = pool.sources.get()
    assert (source.file_name, source.file_sha256) == ("r.trec", kept.sha256)
    assert source.embedding_set is None
    assert pool.__class__.objects.get(pk=pool.pk).stats["inputs"]["sources"][0] == {
        "spec": "ranking:by-number", "k": 3, "fingerprint": kept.sha256,
    }  # fmt: skip


@pytest.mark.parametrize("is_wild", [False, True])
def test_uploaded_vectors_become_an_embedding_set_and_are_searched_by_cosine(pool_of, is_wild):
    given = {"query_catalog": catalog_of_photos(4, "wild", 50)} if is_wild else {}
    draft = pool_of(name="draft", **given)
    images = list(draft.catalog.images.order_by("pk")) + [
        row.image for row in draft.queries.select_related("image") if is_wild
    ]
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(images), 5)) * rng.uniform(0.1, 9, (len(images), 1))
    file = upload("v.npz", npz([i.sha256 for i in images], vectors.astype(np.float16)))
    kept = keep_embeddings(name="ours", file=file, ids=None, task=RankingTask.of(draft))
    pool = pool_of(name="p", catalog=draft.catalog, specs=[], uploads=[kept], **given)
    assert propose(pool, "embeddings:ours").state == JobState.SUCCEEDED
    of = dict(zip([i.pk for i in images], vectors.astype(np.float16).astype(float), strict=True))
    for row in pool.queries.select_related("image"):
        asked = of[row.image_id]
        cosine = {
            i.pk: of[i.pk] @ asked / np.linalg.norm(of[i.pk]) / np.linalg.norm(asked)
            for i in draft.catalog.images.exclude(
                product_id="" if is_wild else row.image.product_id
            )
        }
        best = sorted(cosine, key=lambda pk: -cosine[pk])[:3]
        assert ranked(pool, "embeddings:ours", row.image) == best
    stored = EmbeddingSet.objects.get(catalog=pool.catalog)
    assert stored.is_complete
    assert stored.card["sha256"] == kept.sha256
    source = pool.sources.get()
    assert source.embedding_set == stored
    assert (source.query_embedding_set == stored) is not is_wild


def test_the_same_upload_is_stored_once(pool_of):
    draft = pool_of(name="draft")
    ids = list(draft.catalog.images.values_list("sha256", flat=True))
    content = npz(ids, np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32))
    kept = [
        keep_embeddings(
            name=name, file=upload(f"{name}.npz", content), ids=None, task=RankingTask.of(draft)
        )
        for name in ("one", "two")
    ]
    assert kept[0].sha256 == kept[1].sha256
    for number, each in enumerate(kept):
        pool = pool_of(name=f"p{number}", catalog=draft.catalog, specs=[], uploads=[each])
        assert propose(pool, each.spec).state == JobState.SUCCEEDED
    assert EmbeddingSet.objects.count() == 1
    assert EmbeddingSet.objects.get().shards.count() == 1


def test_random_pairs_are_the_same_for_a_seed_and_never_of_the_query_s_own_product(pool_of):
    pool = pool_of(specs=["random:1", "random:2"], k=4)
    again = pool_of(name="again", catalog=pool.catalog, specs=["random:1"], k=4)
    for each, spec in ((pool, "random:1"), (pool, "random:2"), (again, "random:1")):
        assert propose(each, spec).state == JobState.SUCCEEDED
    for row in pool.queries.select_related("image"):
        one = ranked(pool, "random:1", row.image)
        assert len(set(one)) == 4
        assert one == ranked(again, "random:1", row.image)
        products = Image.objects.filter(pk__in=one).values_list("product_id", flat=True)
        assert row.image.product_id not in products
    seen = [ranked(pool, spec, r.image) for spec in ("random:1", "random:2")
            for r in pool.queries.select_related("image")]  # fmt: skip
    assert seen[:3] != seen[3:]


@pytest.mark.parametrize("name", ["Brightness", "ready"])
def test_a_plug_in_proposes_by_its_scores_and_its_version_is_kept(pool_of, settings, name):
    from catalog.images.blobs import blob_path

    settings.POOL_PLUGINS = [f"{HERE}.{name}"]
    spec = f"plugin:{HERE}.{name}"
    pool = pool_of(specs=[spec])
    assert propose(pool, spec).state == JobState.SUCCEEDED
    for row in pool.queries.select_related("image"):
        others = list(pool.catalog.images.exclude(product_id=row.image.product_id))
        paths = [blob_path(i.sha256, "original") for i in others]
        scores = Brightness().similarity(blob_path(row.image.sha256, "original"), paths)
        order = np.argsort(-np.array(scores), kind="stable")[:3]
        assert ranked(pool, spec, row.image) == [others[i].pk for i in order]
    assert pool.sources.get().version == "1"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("TooFew", r"gave \(\d+,\) scores for \d+ candidates"),
        ("NotFinite", "gave nan for the query"),
        ("NoVersion", "offers no text “version”"),
        ("Absent", r"PYTHONPATH"),
        ("Crashing", "RuntimeError: the model fell over"),
    ],
)
def test_a_plug_in_that_breaks_the_protocol_fails_by_name_and_proposes_nothing(
    pool_of, settings, name, error
):
    settings.POOL_PLUGINS = [f"{HERE}.{name}"]
    pool = pool_of(specs=[f"plugin:{HERE}.{name}"])
    job = propose(pool, f"plugin:{HERE}.{name}")
    assert job.state == JobState.FAILED
    with pytest.raises(AssertionError, match=error):
        raise AssertionError(job.error)
    assert not Proposal.objects.exists()


def test_only_plug_ins_that_the_installation_lists_are_loaded(pool_of, settings):
    settings.POOL_PLUGINS = [f"{HERE}.ready"]
    with pytest.raises(Refused, match="not among this installation's plug-ins"):
        pool_of(specs=["plugin:os.system"])
    with pytest.raises(JobError, match="POOL_PLUGINS"):
        load_plugin("os.system")


def test_each_source_goes_to_a_depth_of_its_own(pool_of):
    pool = pool_of(specs=["random:1", "random:2"], k=2, depths={"random:2": 5})
    for spec in ("random:1", "random:2"):
        propose(pool, spec)
    assert [s.n_proposals for s in pool.sources.all()] == [6, 15]
    with pytest.raises(Refused, match="99 of random:1 is not possible"):
        pool_of(name="x", catalog=pool.catalog, specs=["random:1"], depths={"random:1": 99})


def test_an_upload_that_was_changed_on_disk_fails_the_source_by_name(pool_of):
    from pooling.sources.upload_files import upload_path

    draft = pool_of(name="draft")
    ids = list(draft.catalog.images.values_list("sha256", flat=True))
    content = npz(ids, np.ones((12, 4), np.float32))
    kept = keep_embeddings(
        name="o", file=upload("o.npz", content), ids=None, task=RankingTask.of(draft)
    )
    upload_path(kept.sha256).write_bytes(content + b"x")
    pool = pool_of(name="p", catalog=draft.catalog, specs=[], uploads=[kept])
    job = propose(pool, "embeddings:o")
    assert "o.npz: its copy" in job.error
    assert "upload it again" in job.error
    upload_path(kept.sha256).unlink()
    assert "is gone" in propose(pool, "embeddings:o").error
