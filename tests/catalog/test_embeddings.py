"""Vectors on disk come back as they were, or with an error that names the file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image
from catalog.vectors import embeddings

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def stored_set(catalog: Catalog, blocks: list[np.ndarray], ids: list[list[int]]) -> EmbeddingSet:
    embedding_set = EmbeddingSet.objects.create(
        catalog=catalog, spec="descriptor:x", fingerprint="f", dim=blocks[0].shape[1]
    )
    for position, (block, image_ids) in enumerate(zip(blocks, ids, strict=True)):
        EmbeddingShard.objects.create(
            embedding_set=embedding_set,
            position=position,
            image_ids=image_ids,
            sha256=embeddings.write_shard(block),
            dtype=str(block.dtype),
        )
    return embedding_set


def catalog_of(n: int) -> tuple[Catalog, list[Image]]:
    catalog = Catalog.objects.create(slug="c", name="C")
    images = [
        Image(
            catalog=catalog,
            sha256=f"{i:064x}",
            width=1,
            height=1,
            image_format="PNG",
            n_bytes=1,
            perceptual_hash="0" * 16,
        )
        for i in range(n)
    ]
    return catalog, Image.objects.bulk_create(images)


def test_shards_come_back_in_order_as_one_float32_array():
    catalog, images = catalog_of(5)
    ids = [image.pk for image in images]
    rng = np.random.default_rng(0)
    first = rng.normal(size=(2, 3)).astype(np.float16)
    second = rng.normal(size=(3, 3)).astype(np.float32)
    embedding_set = stored_set(catalog, [first, second], [ids[3:], ids[:3]])
    for _ in range(2):  # merged at the first call, mapped at the second
        image_ids, vectors = embeddings.load_vectors(embedding_set)
        assert image_ids.tolist() == [*ids[3:], *ids[:3]]
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, np.concatenate([first.astype(np.float32), second]))
        assert not vectors.flags.writeable


def test_a_set_without_shards_is_empty_and_keeps_its_dimension():
    catalog, _ = catalog_of(0)
    empty = EmbeddingSet.objects.create(catalog=catalog, spec="s", fingerprint="f", dim=7)
    image_ids, vectors = embeddings.load_vectors(empty)
    assert image_ids.shape == (0,)
    assert vectors.shape == (0, 7)


def test_writing_the_same_vectors_twice_makes_one_file(data_dir: Path):
    block = np.ones((2, 2), np.float32)
    assert embeddings.write_shard(block) == embeddings.write_shard(block)
    assert len(list(data_dir.rglob("*"))) == 3  # two folders, one file


@pytest.mark.parametrize("bad", [np.ones(3), np.array([[np.nan]]), np.array([[np.inf]])])
def test_vectors_that_are_not_a_finite_matrix_are_refused(bad: np.ndarray):
    with pytest.raises(ValueError, match="finite vectors"):
        embeddings.write_shard(bad)


def test_a_changed_shard_is_noticed():
    catalog, images = catalog_of(2)
    embedding_set = stored_set(
        catalog, [np.ones((2, 2), np.float32)], [[image.pk for image in images]]
    )
    path = embeddings.shard_path(embedding_set.shards.get().sha256)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(embeddings.EmbeddingError, match="changed on disk"):
        embeddings.load_vectors(embedding_set)
    path.unlink()
    with pytest.raises(embeddings.EmbeddingError, match="missing"):
        embeddings.load_vectors(embedding_set)


def test_a_shard_of_another_shape_than_its_row_says_is_noticed():
    catalog, images = catalog_of(3)
    embedding_set = stored_set(
        catalog, [np.ones((2, 2), np.float32)], [[image.pk for image in images]]
    )
    with pytest.raises(embeddings.EmbeddingError, match="shape"):
        embeddings.load_vectors(embedding_set)


def merged_files(data_dir: Path) -> list[Path]:
    return sorted((data_dir / "embeddings" / "merged").glob("*.npy"))


def grown(embedding_set: EmbeddingSet, position: int, image_ids: list[int]) -> None:
    block = np.full((len(image_ids), 2), position, np.float32)
    EmbeddingShard.objects.create(
        embedding_set=embedding_set,
        position=position,
        image_ids=image_ids,
        sha256=embeddings.write_shard(block),
        dtype="float32",
    )


def test_of_a_set_that_grows_only_the_last_merged_file_is_kept(data_dir: Path):
    catalog, images = catalog_of(4)
    ids = [image.pk for image in images]
    other = stored_set(catalog, [np.ones((1, 2), np.float32)], [ids[:1]])
    embeddings.load_vectors(other)
    kept = merged_files(data_dir)
    embedding_set = EmbeddingSet.objects.create(
        catalog=catalog, spec="descriptor:y", fingerprint="g", dim=2
    )
    before = []
    for position, image_id in enumerate(ids):
        grown(embedding_set, position, [image_id])
        _, vectors = embeddings.load_vectors(embedding_set)
        before.append(vectors)
        assert len(merged_files(data_dir)) == 2
    assert kept[0] in merged_files(data_dir)
    for n, vectors in enumerate(before, start=1):  # those who still read an older one go on
        assert vectors[:, 0].tolist() == list(range(n))
    assert len(list((data_dir / "embeddings" / "merged").iterdir())) == 4  # each with its hash


@pytest.mark.parametrize("harm", ["a bit", "cut short", "without its hash"])
def test_a_merged_file_that_was_changed_is_made_anew(data_dir: Path, harm: str):
    catalog, images = catalog_of(2)
    block = np.arange(4, dtype=np.float32).reshape(2, 2)
    embedding_set = stored_set(catalog, [block], [[image.pk for image in images]])
    embeddings.load_vectors(embedding_set)
    (path,) = merged_files(data_dir)
    content = path.read_bytes()
    if harm == "without its hash":  # as those of before hashes were kept
        path.with_suffix(".sha256").unlink()
    else:
        path.unlink()
        path.write_bytes(content[:-1] + (b"\x7f" if harm == "a bit" else b""))
    embeddings.forget_vectors()
    _, vectors = embeddings.load_vectors(embedding_set)
    np.testing.assert_array_equal(vectors, block)
    assert path.read_bytes() == content


def test_a_changed_merged_file_hides_no_damaged_shard(data_dir: Path):
    catalog, images = catalog_of(2)
    embedding_set = stored_set(
        catalog, [np.ones((2, 2), np.float32)], [[image.pk for image in images]]
    )
    embeddings.load_vectors(embedding_set)
    assert embeddings.damaged_shards(embedding_set) == []
    (path,) = merged_files(data_dir)
    path.write_bytes(b"")
    embeddings.shard_path(embedding_set.shards.get().sha256).unlink()
    assert embeddings.damaged_shards(embedding_set) == [embedding_set.shards.get()]


def test_files_of_no_set_go_when_they_are_a_day_old(data_dir: Path):
    catalog, images = catalog_of(2)
    ids = [image.pk for image in images]
    embedding_set = stored_set(catalog, [np.ones((2, 2), np.float32)], [ids])
    embeddings.load_vectors(embedding_set)
    used = embeddings.shard_path(embedding_set.shards.get().sha256)
    young, old, again = (
        embeddings.shard_path(embeddings.write_shard(np.full((1, 2), value, np.float32)))
        for value in (5, 6, 7)
    )
    cut = old.with_name(".writing-abc")
    cut.write_bytes(b"half")
    for path in (used, old, again, cut):
        os.utime(path, (1, 1))
    embeddings.write_shard(np.full((1, 2), 7, np.float32))  # about to be stored
    assert embeddings.remove_unused_vectors() == 2
    assert [path.exists() for path in (used, young, again, old, cut)] == [True] * 3 + [False] * 2
    embedding_set.delete()
    assert embeddings.remove_unused_vectors() == 2  # its shard and its merged file
    assert merged_files(data_dir) == []


def test_neighbours_are_those_of_a_full_sort_and_ties_go_to_the_lower_id():
    catalog, images = catalog_of(40)
    ids = np.array([image.pk for image in images])
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 4)).astype(np.float32)
    vectors[7] = vectors[30] = vectors[12]  # three alike
    vectors[20] = 0
    order = rng.permutation(40)
    embedding_set = stored_set(
        catalog,
        [vectors[order[:25]], vectors[order[25:]]],
        [ids[order[:25]].tolist(), ids[order[25:]].tolist()],
    )
    unit = vectors / np.where((norm := np.linalg.norm(vectors, axis=1)) > 0, norm, 1)[:, None]
    for query in (0, 7, 12, 20, 39):
        cosines = unit @ unit[query]
        expected = sorted((-round(float(c), 5), int(ids[i])) for i, c in enumerate(cosines))
        expected = [pair for pair in expected if pair[1] != ids[query]][:6]
        found = embeddings.nearest(embedding_set, images[query], 6)
        assert [(-round(score, 5), image_id) for image_id, score in found] == expected
    assert len(embeddings.nearest(embedding_set, images[0], 100)) == 39
    assert embeddings.nearest(embedding_set, images[0], 0) == []


def test_an_image_without_a_vector_has_no_neighbours():
    catalog, images = catalog_of(3)
    embedding_set = stored_set(
        catalog, [np.eye(2, dtype=np.float32)], [[images[0].pk, images[1].pk]]
    )
    assert embeddings.nearest(embedding_set, images[2], 5) == []
