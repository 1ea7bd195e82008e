"""Images by the names that releases give them."""

from __future__ import annotations

import pytest

from lookalike.io.named_images import images_of_id

A, B, C = "a" * 64, "a" * 20 + "b" * 44, "c" * 64


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
