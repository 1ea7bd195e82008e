"""Releases of pools with queries of another catalog: whose product is whose stands in them."""

from __future__ import annotations

from pathlib import Path

from lookalike.cli.main import main
from lookalike.core.products import Products
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MTEB_PATHS, PRODUCT_PREFIX
from lookalike.release.opened import open_release
from lookalike.release.verify import verify
from lookalike.release.vsd_task import release_as_vsd_task
from pooling.models import Pool
from releases.importing.release import import_any
from tests.worlds import World, build_now, build_wild_world, judge_world, request_for


def _frozen(world: World, tmp_path: Path) -> Folder:
    return Folder(build_now(request_for(world), tmp_path))


def _n_compared(folder: Folder) -> int:
    [n_pairs] = {m["coverage"]["n_pairs"] for m in folder.json("results.json")["models"]}
    return int(n_pairs)


def test_a_release_compares_every_pair_that_was_judged(transactional_db, tmp_path):
    world = judge_world(build_wild_world(n_twins=3))
    folder = _frozen(world, tmp_path)
    assert _n_compared(folder) == len(folder.qrels()) == world.campaign.n_questions
    assert folder.json("statistics.json")["n_excluded"] == {}
    assert folder.info[PRODUCT_PREFIX] == "wild:"
    assert isinstance(folder.products, Products)
    with open_release(folder.path) as release:
        assert release.bias_report().pool.n_catalogue_pairs == 8 * 30 - 3
    assert verify(folder.path).is_right


def test_product_ids_in_the_files_of_a_release_are_equal_only_for_one_product(
    transactional_db, tmp_path, capsys
):
    folder = _frozen(judge_world(build_wild_world()), tmp_path)
    queries = {query for (query,) in folder.rows("queries", "query_id")}
    own = {folder.product_of[query] for query in queries}
    assert own == {f"wild:p{n}" for n in range(8)}
    assert not own & {of for image, of in folder.product_of.items() if image not in queries}
    task = release_as_vsd_task(folder, "wild")
    assert not {task.products[p] for p in task.queries()} & {
        task.products[p] for p in task.gallery()
    }
    files = [str(folder.path / name) for name in ("trec/qrels.txt", "csv/images.csv")]
    run = str(folder.path / "runs" / f"{folder.scored[0]['id']}.parquet")
    arguments = ["score", "--qrels", files[0], "--metadata", files[1], "--run", run, "--json"]
    assert main([*arguments, "--measures", "AP'"]) == 0
    assert f'"n_pairs": {len(folder.qrels())}' in capsys.readouterr().out


def test_queries_of_another_catalog_have_no_product_in_tables_for_mteb(transactional_db, tmp_path):
    import pyarrow.parquet as pq

    folder = _frozen(judge_world(build_wild_world(n_twins=3)), tmp_path)
    table = pq.read_table(folder.path / MTEB_PATHS[1], columns=["product_id"])
    assert set(table["product_id"].to_pylist()) == {""}


def test_pairs_of_shared_ids_are_named_in_the_release(transactional_db, tmp_path):
    world = judge_world(build_wild_world())
    Pool.objects.filter(pk=world.pool.pk).update(shared_product_ids=True)
    folder = _frozen(world, tmp_path)
    reasons = [reason for (reason,) in folder.rows("excluded", "reason")]
    assert set(reasons) == {"own_product"}
    assert _n_compared(folder) + len(reasons) == world.campaign.n_questions
    assert PRODUCT_PREFIX not in folder.info
    assert verify(folder.path).is_right


def test_an_imported_release_has_the_rule_of_its_pool(transactional_db, tmp_path):
    world = judge_world(build_wild_world())
    query_catalog = world.pool.asking
    for is_shared in (False, True):
        Pool.objects.filter(pk=world.pool.pk).update(shared_product_ids=is_shared)
        folder = _frozen(world, tmp_path / str(is_shared))
        import_any(
            source=folder.path.parent / "small-1.0.0.zip", slug=f"again-{is_shared}".lower(),
            catalog=world.catalog, query_catalog=query_catalog,
        )  # fmt: skip
        made = Pool.objects.get(slug=f"again-{is_shared}".lower())
        assert made.shared_product_ids == is_shared
