"""Pictures by whatever files call them."""

from __future__ import annotations

import base64
import re
import unicodedata
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.io.image_names import (
    AmbiguousImageError,
    ImageNames,
    UnknownImageError,
    images_of_id,
)
from lookalike.io.image_spellings import normal_path, plain_name

A, B, C = "a" * 64, "a" * 20 + "b" * 44, "c" * 64
LOCAL = "/data/local-files/?d="
PATHS = [
    "plain.jpg",
    "H&M/a.jpg",
    "H&M 1.jpg",
    "cat+dog.jpg",
    "a#1.jpg",
    "100% wool.jpg",
    "crème brûlée.jpg",
    "Ünder.jpg",
    "b;c.jpg",
    "o'neill.jpg",
    "what?.jpg",
    "x y z.jpg",
    "50%20off.jpg",
    "a=b&c=d.png",
    "[1].jpg",
    "日本/靴.jpg",
    "deep/er/one.webp",
]


def names(*paths: str, **more: object) -> ImageNames[str]:
    return ImageNames([(path, path) for path in paths], **more)  # type: ignore[arg-type]


def packed(uri: str) -> str:
    return base64.b64encode(uri.encode()).decode()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "written",
    [
        lambda path: path,
        lambda path: f"./{path}",
        lambda path: path.replace("/", "\\"),
        lambda path: unicodedata.normalize("NFD", path),
        lambda path: f"  {path}\n",
        quote,
        lambda path: quote(path, safe=""),
        lambda path: re.sub("%..", lambda sign: sign[0].lower(), quote(path)),
        quote_plus,
        lambda path: LOCAL + path,
        lambda path: LOCAL + quote(path),
        lambda path: LOCAL + quote(path, safe=""),
        lambda path: LOCAL + quote_plus(path),
        lambda path: LOCAL + quote(path.replace("/", "\\")),
        lambda path: f"http://localhost:8080{LOCAL}{quote(path)}",
        lambda path: f"{LOCAL}{quote(path)}&storage=3",
        lambda path: f"{LOCAL}root/of/it/{quote(path)}",
        lambda path: f"https://shop.example.org/img/{quote(path)}",
        lambda path: f"https://shop.example.org/{quote(path)}?w=800&h=600#top",
        lambda path: f"s3://bucket/{path}",
        lambda path: f"gs://bucket/folder/{path}",
        lambda path: f"https://bucket.s3.eu-west-1.amazonaws.com/{quote(path)}?X-Amz-Date=1",
        lambda path: f"/tasks/1/resolve/?fileuri={packed(f's3://b/{path}')}",
        lambda path: f"/home/me/pictures/{path}",
        lambda path: f"C:\\Users\\me\\{path}",
        lambda path: f"\\\\nas\\share\\{path}",
        lambda path: f"file:///home/me/{quote(path)}",
        lambda path: f"file:///C:/me/{quote(path)}",
        lambda path: f"../pictures/{path}",
        lambda path: f"/data/upload/7/0a1b2c3d-{quote(path.rpartition('/')[2])}",
        lambda path: path.rpartition("/")[2],
        lambda path: path.rpartition(".")[0],
    ],
)
def test_a_picture_is_found_however_its_name_is_written(path, written):
    assert names(*PATHS).find(written(path)) == path


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12))
def test_a_name_of_the_catalog_always_means_itself(text):
    path = normal_path(text)
    if path.strip("/"):
        others = ["cat dog.jpg", "cat+dog.jpg", quote(path), quote_plus(path), f"more/{path}"]
        assert names(path, *others).find(path) == path


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Z")), min_size=1, max_size=12))
def test_an_address_quoted_as_it_must_be_means_one_path(text):
    path = normal_path(f"a/{text}.jpg")
    others = [quote(path), quote_plus(path), path.replace("+", " ")]
    assert names(path, *others).find(LOCAL + quote(path)) == path
    assert plain_name(LOCAL + quote(path)) == path


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (("cat+dog.jpg", "cat dog.jpg"), f"{LOCAL}cat+dog.jpg"),
        (("é.jpg", unicodedata.normalize("NFD", "é.jpg")), "./é.jpg"),
        (("img/1.jpg", "1.jpg"), "/home/me/img/1.jpg"),
        (("shoes/1.jpg", "bags/1.jpg"), "1.jpg"),
        (("shoes/1.jpg", "bags/1.png"), "1"),
        (("0007.jpg", "7.jpg"), "7"),
        (("0007.jpg", "007.jpg"), "7.0"),
        (("b/k.jpg", "k.jpg"), "s3://b/k.jpg"),
        (("100%25 wool.jpg", "100% wool.jpg"), f"{LOCAL}100%25 wool.jpg"),
    ],
)
def test_a_name_that_fits_two_images_is_refused(paths, name):
    with pytest.raises(AmbiguousImageError) as refused:
        names(*paths).find(name)
    assert repr(name) in str(refused.value)


def test_two_folders_of_one_file_are_not_one_picture():
    known = names("1.jpg", "2.jpg")
    assert known.find("bags/1.jpg") == "1.jpg"
    with pytest.raises(AmbiguousImageError):
        known.find("shoes/1.jpg")
    assert known.find("bags/2.jpg") == "2.jpg"
    for first, second in (("2.jpg", "bags/2.jpg"), ("bags/2.jpg", "2.jpg")):
        known = names("1.jpg", "2.jpg")
        known.find(first)
        with pytest.raises(AmbiguousImageError):
            known.find(second)


def test_what_is_no_whole_catalog_is_compared_by_spelling_alone():
    known = names("img/1.jpg", is_whole=False)
    assert known.find(".\\img\\1.jpg") == "img/1.jpg"
    for name in ("1.jpg", "other/img/1.jpg", "1", "img/1"):
        with pytest.raises(UnknownImageError):
            known.find(name)


def test_images_that_a_file_may_name_go_before_others_of_the_same_path():
    pairs = [("1.jpg", 1), ("1.jpg", 2), ("a/2.jpg", 3), ("b/2.jpg", 4)]
    known = ImageNames(pairs, among={2, 3})
    assert known.find("1.jpg") == 2
    with pytest.raises(AmbiguousImageError):
        known.find("2.jpg")
    with pytest.raises(UnknownImageError):
        known.find("b/2.jpg")


@pytest.mark.parametrize(
    "name", ["", "nowhere.jpg", "1E+05", "0001", "PLAIN.JPG", "data:image/png;"]
)
def test_a_name_of_no_image_is_refused_and_a_similar_one_is_shown(name):
    with pytest.raises(UnknownImageError) as refused:
        names("plain.jpg", "100000.jpg", "1.jpg").find(name)
    assert ("'plain.jpg'" in str(refused.value)) == (name == "PLAIN.JPG")


def test_ids_are_known_in_any_case_and_by_their_beginning():
    uid = "0b2f7b60-52a0-4bd3-b0dc-1b3a3d2d6f3e"
    known = ImageNames([("a.jpg", 1), ("b.jpg", 2)], [(uid, 1), (A, 1), (B, 2)])
    assert [known.find(name) for name in (uid.upper(), A, B.upper(), "a" * 21)] == [1, 1, 2, 1]
    with pytest.raises(AmbiguousImageError):
        known.find("a" * 20)


@pytest.mark.parametrize(
    ("image_id", "expected"),
    [
        ("c" * 16, [C]),
        (C, [C]),
        ("a" * 20, [A, B]),
        ("a" * 21, [A]),
        ("c" * 15, []),
        ("d" * 16, []),
        ("c" * 65, []),
        ("", []),
    ],
)
def test_a_beginning_of_a_hash_names_an_image_if_it_is_long_enough(
    image_id: str, expected: list[str]
) -> None:
    assert images_of_id(image_id, sorted([C, A, B])) == expected
