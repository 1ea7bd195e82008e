"""Specs and presets: what names a backbone, and that the names exist."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import timm
import torch
from timm.models import _registry

from lookalike.backbones.errors import UnknownModelError
from lookalike.backbones.known_names import check_name, open_clip_architectures, timm_models
from lookalike.backbones.spec import Source, Spec, SpecError, parse_spec
from lookalike.pooling.presets import (
    NATURE,
    OFFLINE,
    PAPER,
    PRESETS,
    PRODUCTS,
    SMALL,
    expanded,
)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("timm:resnet50", Spec(Source.TIMM, "resnet50")),
        ("timm:resnet50.a1_in1k", Spec(Source.TIMM, "resnet50", "a1_in1k")),
        (" open_clip:ViT-B-32/openai ", Spec(Source.OPEN_CLIP, "ViT-B-32", "openai")),
        ("file:/a b/w.pth?arch=resnet18", Spec(Source.FILE, "resnet18", "/a b/w.pth")),
        ("file:odd?name.pth?arch=resnet18", Spec(Source.FILE, "resnet18", "odd?name.pth")),
        ("descriptor:hog-shape", Spec(Source.DESCRIPTOR, "hog-shape")),
        ("timm:resnet50.a1_in1k@bfloat16", Spec(Source.TIMM, "resnet50", "a1_in1k", "bfloat16")),
        (
            "timm:resnet50@bfloat16@stored-float32",
            Spec(Source.TIMM, "resnet50", "", "bfloat16", "float32"),
        ),
        (
            "descriptor:hog-shape@stored-float32",
            Spec(Source.DESCRIPTOR, "hog-shape", stored="float32"),
        ),
        (
            "file:/x@y.pth?arch=resnet18@float16",
            Spec(Source.FILE, "resnet18", "/x@y.pth", "float16"),
        ),
        (
            "timm:resnet50@stages@float16@stored-float32",
            Spec(Source.TIMM, "resnet50", "", "float16", "float32", "stages"),
        ),
        (
            "file:/w.pth?arch=resnet18@stages",
            Spec(Source.FILE, "resnet18", "/w.pth", pooling="stages"),
        ),
        ("timm:resnet50@classes", Spec(Source.TIMM, "resnet50", pooling="classes")),
    ],
)
def test_each_form_is_read_and_written_back(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec
    assert str(spec) == text.strip()
    assert parse_spec(str(spec)) == spec


def test_float32_is_what_a_spec_means_that_names_no_precision() -> None:
    assert parse_spec("timm:resnet50@float32") == parse_spec("timm:resnet50")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "names no backbone"),
        ("descriptor:hog-shape@stages", "@stages belongs behind a timm model"),
        ("open_clip:ViT-B-32/openai@classes", "@classes belongs behind a timm model"),
        ("open_clip:ViT-B-32/openai@stages", "@stages belongs behind a timm model"),
        ("resnet50", "names no backbone"),
        ("torch:resnet50", "names no backbone"),
        ("timm:", "lacks a name"),
        ("timm:resnet50.", "'' is no tag"),
        ("timm:../x", "is no model"),
        ("timm:a b", "is no model"),
        ("open_clip:ViT-B-32", "does not say which weights"),
        ("open_clip:ViT-B-32/", "does not say which weights"),
        ("open_clip:/openai", "is no architecture"),
        ("file:/x.pth", "which architecture"),
        ("file:?arch=resnet18", "which architecture"),
        ("file:/x.pth?arch=", "which architecture"),
        ("file:/x.pth?model=resnet18", "which architecture"),
        ("descriptor:color-histogram", "Did you mean descriptor:colour-histogram"),
        ("descriptor:zzz", "Known: colour-histogram"),
        ("descriptor:hog-shape@bfloat16", "a descriptor has no precision"),
        ("timm:resnet50@stored-float64", "is no model"),
        ("timm:resnet50@stored-float32@bfloat16", "is no model"),
        ("timm:resnet50@int8", "is no model"),
    ],
)
def test_what_names_no_backbone_is_refused_with_the_part_that_is_wrong(
    text: str, reason: str
) -> None:
    with pytest.raises(SpecError, match=reason):
        parse_spec(text)


def test_every_spec_of_every_preset_exists_in_the_installed_libraries() -> None:
    import open_clip

    in_timm = set(timm.list_models(pretrained=True))
    in_open_clip = set(open_clip.list_pretrained())
    for preset in PRESETS:
        for text in preset.specs:
            spec = parse_spec(text)
            if spec.source == Source.TIMM:
                assert text in OFFLINE.specs or str(spec)[5:] in in_timm, text
                assert timm.is_model(spec.model), text
            elif spec.source == Source.OPEN_CLIP:
                assert (spec.model, spec.weights) in in_open_clip, text


# towers of image and text that timm has, too: open_clip says nothing of licences
TOWERS = {
    "open_clip:MobileCLIP2-S0/dfndr2b": "fastvit_mci0.apple_mclip2_dfndr2b",
    "open_clip:PE-Core-T-16-384/meta": "vit_pe_core_tiny_patch16_384.fb",
    "open_clip:ViT-B-16-SigLIP2-256/webli": "vit_base_patch16_siglip_256.v2_webli",
    "open_clip:PE-Core-B-16/meta": "vit_pe_core_base_patch16_224.fb",
    "open_clip:MobileCLIP2-S3/dfndr2b": "fastvit_mci3.apple_mclip2_dfndr2b",
    "open_clip:EVA02-B-16/merged2b_s8b_b131k": "eva02_base_patch16_clip_224.merged2b",
    "open_clip:ViT-SO400M-16-SigLIP2-256/webli": "vit_so400m_patch16_siglip_256.v2_webli",
    "open_clip:PE-Core-L-14-336/meta": "vit_pe_core_large_patch14_336.fb",
}


def test_presets_name_the_licence_that_the_library_names() -> None:
    for member in (member for preset in PRESETS for member in preset.members):
        if member.spec.startswith("timm:") or member.spec in TOWERS:
            name = TOWERS.get(member.spec, member.spec.removeprefix("timm:"))
            config: Any = timm.get_pretrained_cfg(name)
            assert member.licence == config.license, member.spec


def test_presets_of_today_say_how_large_their_weights_are() -> None:
    import open_clip

    for member in (*SMALL.members, *PRODUCTS.members, *NATURE.members):
        if not member.spec:
            continue
        spec = parse_spec(member.spec)
        with torch.device("meta"):  # no numbers are drawn
            if spec.source == Source.TIMM:
                model = timm.create_model(member.spec.removeprefix("timm:"))
            else:
                model = open_clip.create_model(spec.model, device="meta")
        n_bytes = sum(4 * values.numel() for values in model.state_dict().values())
        assert member.megabytes == pytest.approx(n_bytes / 1e6, rel=0.01), member.spec


def test_the_paper_has_twelve_models_and_says_which_have_no_weights_here() -> None:
    assert len(PAPER.members) == 12
    missing = [member for member in PAPER.members if not member.spec]
    assert [member.name for member in missing] == ["MoCo", "SwAV"]
    assert all("file:PATH" in member.note for member in missing)
    assert not timm.list_models("*moco*", pretrained=True)
    assert not timm.list_models("*swav*", pretrained=True)


def test_presets_expand_in_place_and_name_no_model_twice() -> None:
    specs = expanded(["descriptor:hog-shape", "offline", "timm:resnet18"])
    assert specs[0] == "descriptor:hog-shape"
    assert specs[-1] == "timm:resnet18"
    assert len(specs) == len(set(specs)) == len(OFFLINE.specs) + 1
    assert len(OFFLINE.specs) >= 5


def test_names_read_from_the_libraries_source_are_those_that_they_say_themselves() -> None:
    import open_clip

    assert timm_models() == {*timm.list_models(), *_registry._deprecated_models}
    assert open_clip_architectures() == set(open_clip.list_models())
    with pytest.raises(UnknownModelError, match="Did you mean resnet50"):
        check_name(parse_spec("timm:resnet5O"))


def test_specs_presets_and_statistics_load_no_torch() -> None:
    modules = (
        "lookalike.backbones.known_names, lookalike.backbones.spec, lookalike.pooling.presets, "
        "lookalike.pooling.eds, "
        "lookalike.pooling.stats, lookalike.search.topk"
    )
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
