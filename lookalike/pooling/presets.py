"""Named lists of backbones: the paper's, what runs offline, and models of today by purpose.

Source: Barkan, Reiss et al., "Efficient Discovery and Effective Evaluation of Visual Perceptual
Similarity" (ICCV 2023), section 5, and its code. A test checks every name against the installed
timm and open_clip, and what they say of licence and size.

No preset is for faces, and none will be. Telling people apart by their faces is identification: it
needs a legal ground and the consent of those shown, which no program can see, and the models that
are made for it come with terms of their own.
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
        licence: of the weights, as their publisher calls it; "" where there are none.
    """

    name: str
    spec: str = ""
    note: str = ""
    megabytes: int = 0
    licence: str = ""


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


DINOV3 = (
    "Pictures alone taught it. Its licence asks to be accepted on the hub, and names uses it bars."
)
APPLE = "Its licence allows research alone."

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
            licence="bsd-3-clause",
        ),
        Member(
            "DINO ViT-S/8",
            "timm:vit_small_patch8_224.dino",
            megabytes=87,
            licence="apache-2.0",
        ),
        Member(
            "BEiT-B/16",
            "timm:beit_base_patch16_224.in22k_ft_in22k",
            "Pooled output, as in the published code.",
            megabytes=346,
            licence="apache-2.0",
        ),
        Member(
            "CLIP ViT-B/32",
            "open_clip:ViT-B-32-quickgelu/openai",
            "Image tower.",
            605,
            licence="mit",
        ),
    ),
)

PAPER = Preset(
    name="paper",
    title="All models of the paper",
    text="The four of its pool, and the eight further models that it evaluates.",
    members=(
        *PAPER_POOL.members,
        Member(
            "ResNet-50",
            "timm:resnet50.tv_in1k",
            "The paper's code compares its 1000 logits.",
            102,
            licence="bsd-3-clause",
        ),
        Member(
            "ConvNeXt",
            "timm:convnext_base.fb_in1k",
            megabytes=354,
            licence="apache-2.0",
        ),
        Member(
            "ViT-B/16 (ImageNet-21k)",
            "timm:vit_base_patch16_224.augreg_in21k",
            megabytes=410,
            licence="apache-2.0",
        ),
        Member(
            "SWAG",
            "timm:regnety_160.swag_ft_in1k",
            "timm has SWAG's RegNetY; its ViT weights are in neither library.",
            megabytes=335,
            licence="cc-by-nc-4.0",
        ),
        Member("MoCo", note="In neither library: give a checkpoint as file:PATH?arch=resnet50."),
        Member("SwAV", note="In neither library: give a checkpoint as file:PATH?arch=resnet50."),
        Member(
            "MAE",
            "timm:vit_base_patch16_224.mae",
            megabytes=346,
            licence="cc-by-nc-4.0",
        ),
        Member(
            "Noisy Student",
            "timm:tf_efficientnet_b7.ns_jft_in1k",
            megabytes=267,
            licence="apache-2.0",
        ),
    ),
)

OFFLINE = Preset(
    name="offline",
    title="Works offline",
    text="Three ImageNet networks whose weights are installed with the program, and four "
    "classical descriptors. Nothing is downloaded.",
    members=(
        Member(
            "EfficientNet-Lite0",
            "timm:tf_efficientnet_lite0",
            megabytes=19,
            licence="apache-2.0",
        ),
        Member(
            "EfficientNet-Lite1",
            "timm:tf_efficientnet_lite1",
            megabytes=22,
            licence="apache-2.0",
        ),
        Member(
            "EfficientNet-Lite2",
            "timm:tf_efficientnet_lite2",
            megabytes=25,
            licence="apache-2.0",
        ),
        Member("Colour histogram", "descriptor:colour-histogram"),
        Member("Colour layout", "descriptor:colour-layout"),
        Member("Texture", "descriptor:lbp-texture"),
        Member("Shape", "descriptor:hog-shape"),
    ),
)

SMALL = Preset(
    name="small",
    title="Small models of today",
    text="For a processor, or for a first look. Weights come from the Hugging Face hub at first "
    "use.",
    members=(
        Member(
            "DINOv3 ConvNeXt-T", "timm:convnext_tiny.dinov3_lvd1689m", DINOV3, 111, "dinov3-license"
        ),
        Member(
            "DINOv3 ViT-S/16",
            "timm:vit_small_patch16_dinov3.lvd1689m",
            DINOV3,
            86,
            "dinov3-license",
        ),
        Member("MobileCLIP 2 S0", "open_clip:MobileCLIP2-S0/dfndr2b", APPLE, 300, "apple-amlr"),
        Member("PE-Core T/16", "open_clip:PE-Core-T-16-384/meta", "", 278, "apache-2.0"),
    ),
)

PRODUCTS = Preset(
    name="products",
    title="Fashion and products, today",
    text="Trained on pictures with their words, as shops have them, and one on pictures alone. "
    "Weights come from the Hugging Face hub at the first use.",
    members=(
        Member("SigLIP 2 B/16", "open_clip:ViT-B-16-SigLIP2-256/webli", "", 1501, "apache-2.0"),
        Member("PE-Core B/16", "open_clip:PE-Core-B-16/meta", "", 1791, "apache-2.0"),
        Member("MobileCLIP 2 S3", "open_clip:MobileCLIP2-S3/dfndr2b", APPLE, 996, "apple-amlr"),
        Member("EVA-02 CLIP B/16", "open_clip:EVA02-B-16/merged2b_s8b_b131k", "", 599, "mit"),
        Member(
            "DINOv3 ViT-B/16",
            "timm:vit_base_patch16_dinov3.lvd1689m",
            DINOV3,
            343,
            "dinov3-license",
        ),
    ),
)

NATURE = Preset(
    name="nature",
    title="Animals and plants, today",
    text="Large models, which tell fine differences apart; a GPU helps. Weights come from the "
    "Hugging Face hub at the first use.",
    members=(
        Member(
            "DINOv3 ViT-L/16",
            "timm:vit_large_patch16_dinov3.lvd1689m",
            DINOV3,
            1212,
            "dinov3-license",
        ),
        Member(
            "EVA-02 L/14, ImageNet-22k",
            "timm:eva02_large_patch14_448.mim_m38m_ft_in22k",
            "Pictures of 448 pixels.",
            1306,
            "mit",
        ),
        Member(
            "SigLIP 2 So400m/16",
            "open_clip:ViT-SO400M-16-SigLIP2-256/webli",
            "",
            4543,
            "apache-2.0",
        ),
        Member(
            "PE-Core L/14",
            "open_clip:PE-Core-L-14-336/meta",
            "Pictures of 336 pixels.",
            2685,
            "apache-2.0",
        ),
        Member(
            "BioCLIP 2",
            note="In neither library: embed with its own program, and give the vectors as a file.",
            licence="mit",
        ),
    ),
)

PRESETS = (OFFLINE, PAPER_POOL, PAPER, SMALL, PRODUCTS, NATURE)


def expanded(names: list[str]) -> list[str]:
    """Return specs with every preset's name replaced by its members' specs, without repeats."""
    of_preset = {preset.name: preset.specs for preset in PRESETS}
    specs = [spec for name in names for spec in of_preset.get(name, [name])]
    return list(dict.fromkeys(specs))
