"""Named lists of backbones: the paper's pool and its further models, and what runs offline.

Source: Barkan, Reiss et al., "Efficient Discovery and Effective Evaluation of Visual Perceptual
Similarity" (ICCV 2023), section 5, and its code. A test checks every name against the installed
timm and open_clip.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """One model of a preset.

    Attributes:
        name: what people call it.
        spec: its backbone spec; "" where neither timm nor open_clip has the weights.
        note: what is different from the paper, or what to do instead.
        megabytes: of its weights in float32; 0 for none.
    """

    name: str
    spec: str = ""
    note: str = ""
    megabytes: int = 0


@dataclass(frozen=True)
class Preset:
    """A named list of models."""

    name: str
    title: str
    text: str
    members: tuple[Member, ...]

    @property
    def specs(self) -> list[str]:
        """The specs of the members that have one."""
        return [member.spec for member in self.members if member.spec]


PAPER_POOL = Preset(
    name="paper-pool",
    title="The paper's pool",
    text="The four pretrained models whose proposals made the VSD ground truth. Their weights "
    "come from the Hugging Face hub at the first use.",
    members=(
        Member(
            "Argus",
            "timm:resnext101_32x8d.tv_in1k",
            "The paper's ResNeXt-101 32x8d with ImageNet weights; the paper's own were trained on "
            "Bing and come only with PyPI's argusvision: give that file as "
            "file:PATH?arch=resnext101_32x8d. The published code loads a DenseNet-161 instead "
            "(timm:densenet161.tv_in1k).",
            megabytes=356,
        ),
        Member("DINO ViT-S/8", "timm:vit_small_patch8_224.dino", megabytes=87),
        Member(
            "BEiT-B/16",
            "timm:beit_base_patch16_224.in22k_ft_in22k",
            "Pooled output, as in the published code.",
            megabytes=346,
        ),
        Member("CLIP ViT-B/32", "open_clip:ViT-B-32-quickgelu/openai", "Image tower.", 605),
    ),
)

PAPER = Preset(
    name="paper",
    title="All models of the paper",
    text="The four of its pool, and the eight further models that it evaluates.",
    members=(
        *PAPER_POOL.members,
        Member(
            "ResNet-50", "timm:resnet50.tv_in1k", "The paper's code compares its 1000 logits.", 102
        ),
        Member("ConvNeXt", "timm:convnext_base.fb_in1k", megabytes=354),
        Member("ViT-B/16 (ImageNet-21k)", "timm:vit_base_patch16_224.augreg_in21k", megabytes=410),
        Member(
            "SWAG",
            "timm:regnety_160.swag_ft_in1k",
            "timm has SWAG's RegNetY; its ViT weights are in neither library.",
            megabytes=335,
        ),
        Member("MoCo", note="In neither library: give a checkpoint as file:PATH?arch=resnet50."),
        Member("SwAV", note="In neither library: give a checkpoint as file:PATH?arch=resnet50."),
        Member("MAE", "timm:vit_base_patch16_224.mae", megabytes=346),
        Member("Noisy Student", "timm:tf_efficientnet_b7.ns_jft_in1k", megabytes=267),
    ),
)

OFFLINE = Preset(
    name="offline",
    title="Works offline",
    text="Three ImageNet networks whose weights are installed with the program, and four "
    "classical descriptors. Nothing is downloaded.",
    members=(
        Member("EfficientNet-Lite0", "timm:tf_efficientnet_lite0", megabytes=19),
        Member("EfficientNet-Lite1", "timm:tf_efficientnet_lite1", megabytes=22),
        Member("EfficientNet-Lite2", "timm:tf_efficientnet_lite2", megabytes=25),
        Member("Colour histogram", "descriptor:colour-histogram"),
        Member("Colour layout", "descriptor:colour-layout"),
        Member("Texture", "descriptor:lbp-texture"),
        Member("Shape", "descriptor:hog-shape"),
    ),
)

PRESETS = (OFFLINE, PAPER_POOL, PAPER)


def expanded(names: list[str]) -> list[str]:
    """Return specs with every preset's name replaced by its members' specs, without repeats."""
    of_preset = {preset.name: preset.specs for preset in PRESETS}
    specs = [spec for name in names for spec in of_preset.get(name, [name])]
    return list(dict.fromkeys(specs))
