"""docs/importing.md says what the code does."""

from __future__ import annotations

import re

from catalog.importing import batches
from lookalike.images import decode, near_duplicates, sources
from lookalike.images.metadata import MAX_ATTRIBUTE, MAX_PRODUCT, read_metadata
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "importing.md").read_text()


def test_the_numbers_are_those_of_the_code():
    for words in (
        f"{decode.MAX_PIXELS // 10**6} million pixels, or {decode.MAX_BYTES // 2**20} MB",
        f"at most {decode.VIEW_SIDE} and a **thumbnail** of at most {decode.THUMB_SIDE}",
        f"at most {near_duplicates.NEAR_BITS} bits",
        f"{sources.MAX_RATIO} times",
        f"{sources.MAX_FILES:,} files",
        f"{sources.MAX_UNPACKED // 2**30} GB",
        f"batches of {batches.BATCH} files",
        f"{MAX_PRODUCT} characters",
        f"{MAX_ATTRIBUTE:,}",
    ):
        assert words in TEXT, words


def test_the_examples_are_read_without_a_problem():
    sheets = [block for block in re.findall(r"```\w*\n(.*?)```", TEXT, re.S) if "images" in block]
    csv, vsd, _ = sheets
    assert len(read_metadata(csv.encode(), "m.csv").rows) == 3
    row = read_metadata(vsd.encode(), "m.json").rows["img/a.jpg"]
    assert (row.product_id, row.attributes["bbox"]) == ("id_00000001", "[10,20,200,300]")
