"""Maps of catalogs and nearness as filters: what they let through, and what they refuse."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import numpy as np
import pytest

from catalog.browsing.browse import image_page, without_lost
from catalog.browsing.filters import Area, ImageFilter, Likeness, Place, parse_filter
from catalog.maps.queries import images_in, is_up_to_date, map_points
from catalog.maps.services import FULL, MAP_TASK, draw_map, map_subject
from catalog.models import Catalog, CatalogMap, EmbeddingSet, EmbeddingShard
from catalog.queries import filtered_images
from jobs.models import Job
from jobs.services import JobError, run_here
from pooling.maps.queries import NOWHERE, pairs_file, points_file
from tests.catalogs import add_images, catalog_of, embedding_set_of, pool_over

pytestmark = pytest.mark.django_db
N = 12  # fewer than have neighbourhoods: laid out by principal components alone


@pytest.fixture
def embedded() -> EmbeddingSet:
    catalog = catalog_of([f"egg{number:02d}" for number in range(N)])
    angles = np.linspace(0, 1.5, N)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    made: EmbeddingSet = embedding_set_of(catalog, vectors)
    return made


def drawn(embedding_set: EmbeddingSet) -> CatalogMap:
    run_here(
        task=MAP_TASK, subject=map_subject(embedding_set), title="Map", arguments={},
        work=lambda progress: draw_map(set_id=embedding_set.pk, progress=progress),
    )  # fmt: skip
    return CatalogMap.objects.get(embedding_set=embedding_set)


def ids(catalog: Catalog) -> list[int]:
    return list(catalog.images.order_by("pk").values_list("pk", flat=True))


def test_a_map_is_kept_until_its_vectors_change(embedded: EmbeddingSet):
    first = drawn(embedded)
    assert first.image_ids == ids(embedded.catalog)
    assert np.ptp(map_points(first), axis=0).max() == FULL
    assert (drawn(embedded).pk, is_up_to_date(first)) == (first.pk, True)
    EmbeddingShard.objects.filter(embedding_set=embedded).update(sha256="0" * 64)
    assert not is_up_to_date(first)
    with pytest.raises(JobError, match="missing"):
        drawn(embedded)
    assert CatalogMap.objects.get() == first, "a map that cannot be drawn replaces none"


def test_an_area_lets_through_what_lies_in_it_and_no_more(embedded: EmbeddingSet):
    made, catalog = drawn(embedded), embedded.catalog
    points = map_points(made) / FULL
    for row, (x, y) in enumerate(points):
        at = Area(made.pk, float(x), float(y), float(x), float(y))
        assert made.image_ids[row] in images_in(made, at)
        asked = ImageFilter(area=at)
        read_back = parse_filter({key: [value] for key, value in asked.pairs()}, [])
        assert read_back.area is not None
        assert made.image_ids[row] in images_in(made, read_back.area)
    half = ImageFilter(area=Area(made.pk, 0, 0, 0.5, 1))
    wanted = {pk for pk, (x, _) in zip(made.image_ids, points, strict=True) if x <= 0.5}
    found = filtered_images(catalog, half)
    assert {image.pk for image in found} == wanted
    assert 0 < len(wanted) < N
    both = ImageFilter(search="egg00", area=half.area)
    assert set(filtered_images(catalog, both)) == set(found.filter(source_files__path="egg00.png"))


@pytest.mark.parametrize(
    "area", ["", "0,0,1", "0,0,1,1,1", "1,0,0,1", "nan,0,1,1", "a,b,c,d", "0;0;1;1", "٠,0,1,x"]
)
def test_what_is_no_area_is_no_condition(area: str):
    assert parse_filter({"map": ["1"], "area": [area]}, []).area is None


@pytest.mark.parametrize("number", ["", "-1", "1.5", "²", "9" * 30, "1 or 1=1"])
def test_what_is_no_map_is_no_condition(number: str):
    assert parse_filter({"map": [number], "area": ["0,0,1,1"]}, []).area is None
    assert parse_filter({"like": [str(uuid.uuid4())], "by": [number]}, []).like is None


def test_an_area_of_a_map_that_is_gone_is_told_and_left_out(embedded: EmbeddingSet):
    made = drawn(embedded)
    asked = ImageFilter("egg", area=Area(made.pk, 0, 0, 1, 1))
    other = catalog_of(["a"], slug="other")
    for catalog, is_told in ((embedded.catalog, False), (other, True)):
        kept, _, problems = without_lost(catalog, asked)
        assert (kept.area is None, bool(problems)) == (is_told, is_told)
        assert kept.search == "egg"


def by_nearness(embedded: EmbeddingSet, row: int, search: str = "") -> ImageFilter:
    image = embedded.catalog.images.order_by("pk")[row]
    return ImageFilter(search, like=Likeness(image.uid, embedded.pk))


def test_nearest_come_first_without_the_image_itself(embedded: EmbeddingSet):
    catalog, asked = embedded.catalog, by_nearness(embedded, 0)
    _, ranking, problems = without_lost(catalog, asked)
    assert not problems
    page = image_page(catalog, asked, Place(), ranking=ranking)
    assert [image.pk for image in page.images] == ids(catalog)[1:]  # further along the arc
    assert page.n_all == N - 1
    narrow = by_nearness(embedded, 0, search="egg1")
    page = image_page(catalog, narrow, Place(), ranking=ranking)
    assert [image.pk for image in page.images] == ids(catalog)[10:]


def test_paging_by_nearness_shows_every_image_once(embedded: EmbeddingSet):
    catalog, asked = embedded.catalog, by_nearness(embedded, 6)
    _, ranking, _ = without_lost(catalog, asked)
    page = image_page(catalog, asked, Place(), 3, ranking)
    forth = list(page.images)
    assert page.previous is None
    while page.next is not None:
        page = image_page(catalog, asked, Place(after=page.next.uid), 3, ranking)
        assert page.first_number == len(forth) + 1
        forth += page.images
    assert ranking is not None
    assert [image.pk for image in forth] == ranking.ids
    back = list(page.images)
    while page.previous is not None:
        page = image_page(catalog, asked, Place(before=page.previous.uid), 3, ranking)
        back = [*page.images, *back]
    assert back == forth
    [late] = add_images(catalog, ["late"])  # has no vector
    for place in (
        Place(after=uuid.uuid4()),
        Place(before=ranking.image.uid),
        Place(before=late.uid),
    ):
        assert image_page(catalog, asked, place, 3, ranking).images == forth[:3]


def _no_image(embedded: EmbeddingSet) -> Likeness:
    return Likeness(uuid.uuid4(), embedded.pk)


def _no_set(embedded: EmbeddingSet) -> Likeness:
    return Likeness(embedded.catalog.images.all()[0].uid, embedded.pk + 1)


def _unfinished(embedded: EmbeddingSet) -> Likeness:
    EmbeddingSet.objects.update(is_complete=False)
    return Likeness(embedded.catalog.images.all()[0].uid, embedded.pk)


def _damaged(embedded: EmbeddingSet) -> Likeness:
    EmbeddingShard.objects.update(sha256="0" * 64)
    return Likeness(embedded.catalog.images.all()[0].uid, embedded.pk)


@pytest.mark.parametrize("like", [_no_image, _no_set, _unfinished, _damaged])
def test_nearness_to_what_is_not_there_is_told_and_left_out(
    embedded: EmbeddingSet, like: Callable[[EmbeddingSet], Likeness]
):
    asked = ImageFilter("egg", like=like(embedded))
    kept, ranking, problems = without_lost(embedded.catalog, asked)
    assert (kept, ranking, len(problems)) == (ImageFilter("egg"), None, 1)


def test_a_set_that_was_deleted_fails_its_job_with_a_reason(embedded: EmbeddingSet):
    gone = EmbeddingSet(pk=embedded.pk + 1, catalog=embedded.catalog)
    with pytest.raises(JobError, match="deleted"):
        drawn(gone)
    assert Job.objects.get().state == "failed"


def test_the_browser_gets_points_and_pairs_by_the_same_places(embedded: EmbeddingSet):
    made, images = drawn(embedded), list(embedded.catalog.images.order_by("pk"))
    pool = pool_over(embedded.catalog, [{0: {1: 0.9, 2: 0.8}}, {0: {2: 0.7}, 3: {4: 0.1}}])
    images[4].delete()
    file = points_file(made)
    assert len(file) == 20 * N
    assert np.frombuffer(file, "<u2", 2 * N).tolist() == map_points(made).ravel().tolist()
    uids = [uuid.UUID(bytes=file[start : start + 16]) for start in range(4 * N, 20 * N, 16)]
    assert uids == [uuid.UUID(int=0) if row == 4 else one.uid for row, one in enumerate(images)]
    numbers = np.frombuffer(pairs_file(made, pool), "<i4").tolist()
    assert numbers == [2, 0, 3, 0, 1, 0, 0, 2, 0]
    made.image_ids = [*made.image_ids[1:], -7]
    numbers = np.frombuffer(pairs_file(made, pool), "<i4").tolist()
    assert numbers == [2, NOWHERE, 2, NOWHERE, 0, 0, NOWHERE, 1, 0]
