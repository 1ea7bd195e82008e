"""One text names a source: what kind it is, and how deep it goes."""

from __future__ import annotations

import pytest

from lookalike.backbones.spec import SpecError
from lookalike.core.errors import Refused
from lookalike.pooling.source_spec import (
    SourceKind,
    canonical,
    parse_depths,
    source_kind,
    split_depth,
    uploaded_spec,
)
from pooling.new_pool.parsing import depths_of, source_wishes


@pytest.mark.parametrize(
    ("text", "spec", "kind"),
    [
        (" timm:resnet18 ", "timm:resnet18", SourceKind.BACKBONE),
        ("descriptor:hog-shape", "descriptor:hog-shape", SourceKind.BACKBONE),
        ("random:007", "random:7", SourceKind.RANDOM),
        ("plugin:shop.models.Colour", "plugin:shop.models.Colour", SourceKind.PLUGIN),
        ("embeddings:ours-v2", "embeddings:ours-v2", SourceKind.EMBEDDINGS),
        ("ranking:bm25", "ranking:bm25", SourceKind.RANKING),
    ],
)
def test_a_spec_has_one_canonical_text_and_its_kind(text, spec, kind):
    assert canonical(text) == spec
    assert source_kind(spec) == kind


@pytest.mark.parametrize(
    "text",
    ["random:", "random:x", "random:-1", "random:9223372036854775808", "plugin:alone",
     "plugin:a.b()", "plugin:../x", "embeddings:", "embeddings:a b", "ranking:../x", "backbone:x",
     "nothing"],
)  # fmt: skip
def test_what_names_no_source_is_refused_with_the_forms_there_are(text):
    with pytest.raises(SpecError, match=r"Write .*timm:MODEL"):
        canonical(text)


def test_a_depth_of_its_own_stands_behind_the_spec():
    assert split_depth("random:1 k=20") == ("random:1", 20)
    assert split_depth(" random:1   k = 20 ") == ("random:1", 20)
    assert split_depth("file:/a k=b.safetensors?arch=x") == ("file:/a k=b.safetensors?arch=x", None)
    assert parse_depths(["a:b k=3", "", "c:d k=4"]) == {"a:b": 3, "c:d": 4}
    with pytest.raises(SpecError, match="says no depth"):
        parse_depths(["a:b"])
    with pytest.raises(SpecError, match="twice"):
        parse_depths(["a:b k=3", "a:b k=4"])


def test_a_list_of_sources_spells_presets_out_and_keeps_depths():
    wishes = source_wishes("random:1 k=20\noffline k=3, descriptor:hog-shape k=3")
    assert wishes[0].spec == "random:1"
    assert depths_of(wishes)["random:1"] == 20
    assert depths_of(wishes)["descriptor:hog-shape"] == 3
    assert len(wishes) == 8
    assert source_wishes(" , \n") == []


def test_a_source_with_two_depths_and_an_upload_without_a_file_are_refused():
    with pytest.raises(Refused, match="two depths"):
        source_wishes("random:1, random:1 k=3")
    with pytest.raises(Refused, match="upload it"):
        source_wishes("ranking:ours")


def test_an_upload_is_called_what_people_may_type():
    assert uploaded_spec(SourceKind.RANKING, "run.v2") == "ranking:run.v2"
    for name in ("", "a b", "-x", "x" * 81, "ä"):
        with pytest.raises(SpecError, match="no name for an upload"):
            uploaded_spec(SourceKind.RANKING, name)
