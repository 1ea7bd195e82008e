"""What models score on templates: open_clip itself is the oracle, on weights made here."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from safetensors.torch import save_file

from accounts.models import Role
from catalog.images.blobs import read_blob
from catalog.models import Image, Projection
from conditional.models import RetrievalTemplate, TemplateScore, TemplateSet
from conditional.template_sets.recall import score_model
from conditional.template_sets.recall_services import SCORE_TASK, known_model, request_score
from conditional.template_sets.recall_views import scores_context
from jobs.models import Job
from jobs.services import JobError, run_here
from lookalike.backbones.errors import SpecError, UnknownModelError
from lookalike.conditional.crops import crop_view
from lookalike.conditional.types import Box, DistractorKind
from lookalike.core.errors import Refused
from lookalike.images.decode import read_rgb
from tests.catalogs import catalog_of_photos, embedding_set_of

TINY = "open_clip:tiny/t"
BOX = [10.0, 5.0, 40.0, 30.0]


@pytest.fixture
def photos(db, settings, tmp_path):
    """Eight photos whose files lie in a folder of this test's own."""
    settings.DATA_DIR = tmp_path / "data"
    return catalog_of_photos(8)


@pytest.fixture
def templates(photos):
    """Three templates of four candidates; the last shows a part of its reference and target."""
    images = list(photos.images.order_by("pk").values_list("pk", flat=True))
    made = TemplateSet.objects.create(
        slug="colours", name="Colours", catalog=photos, task="change_attribute", source="catalog"
    )
    for position, condition in enumerate(["in red", "in blue", "in red"]):
        reference, target, *gallery = np.roll(images, position)[:5].tolist()
        RetrievalTemplate.objects.create(
            template_set=made,
            position=position,
            condition=condition,
            reference_id=reference,
            target_id=target,
            gallery=gallery,
            kinds=[DistractorKind.UNKNOWN] * len(gallery),
            boxes={"reference": BOX, "target": BOX} if position == 2 else {},
        )
    return made


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A CLIP of two small towers with weights drawn here, known to open_clip as tiny/t."""
    import open_clip  # takes seconds, and every process of a test run reads this file

    from lookalike.backbones.clip_models import load_clip

    torch.manual_seed(5)
    config = {
        "embed_dim": 16,
        "vision_cfg": {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16},
        "text_cfg": {
            "context_length": 8,
            "vocab_size": 49408,
            "width": 16,
            "heads": 2,
            "layers": 1,
        },
    }
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", config)
    monkeypatch.setattr(open_clip, "list_models", lambda: ["tiny"])
    monkeypatch.setattr(open_clip, "list_pretrained_tags_by_model", lambda m: ["t"])
    published = {"hf_hub": "someone/tiny/", "mean": (0.4, 0.5, 0.6), "std": (0.2, 0.3, 0.4)}
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda m, t: published)
    model = open_clip.create_model("tiny", pretrained=None).eval()
    folder = tmp_path / "weights"
    folder.mkdir()
    save_file(model.state_dict(), folder / "tiny.t.safetensors")
    monkeypatch.setattr(
        "lookalike.backbones.clip_models.load_clip",
        lambda spec, device, weights=folder: load_clip(spec, device, weights),
    )
    transform = open_clip.image_transform(
        32, is_train=False, mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4)
    )
    return model, transform, folder


def scored(template_set, model):
    job = run_here(
        task=SCORE_TASK,
        subject="a set by a model",
        title="Score",
        arguments={},
        work=lambda progress: score_model(
            template_set_id=template_set.pk, model=model, progress=progress
        ),
    )
    return job.result


def test_both_towers_give_the_raw_features_of_open_clip(tiny, photos):
    import open_clip

    from lookalike.backbones.clip_models import load_clip

    model, transform, folder = tiny
    pictures = [read_rgb(read_blob(one.sha256, "original")) for one in photos.images.all()[:3]]
    clip = load_clip(TINY, torch.device("cpu"), folder)
    with torch.inference_mode():
        images = model.encode_image(torch.stack([transform(one) for one in pictures])).numpy()
        tokens = open_clip.get_tokenizer("tiny")(["in red", "a long dress"])
        texts = model.encode_text(tokens).numpy()
    np.testing.assert_allclose(clip.of_images(pictures), images, atol=1e-5)
    np.testing.assert_allclose(clip.of_texts(["in red", "a long dress"]), texts, atol=1e-5)
    assert not np.allclose(np.linalg.norm(images, axis=1), 1)
    with pytest.raises(SpecError, match="reads texts"):
        load_clip("timm:resnet18", torch.device("cpu"))
    with pytest.raises(UnknownModelError, match="tiny"):
        load_clip("open_clip:tinny/t", torch.device("cpu"))


def test_all_baselines_of_a_clip_are_those_of_a_plain_loop(tiny, templates):
    import open_clip

    model, transform, _ = tiny
    scored(templates, TINY)

    def feature(pk, box):
        whole = read_rgb(read_blob(Image.objects.get(pk=pk).sha256, "original"))
        shown = crop_view(whole, Box(*box) if box else None)
        with torch.inference_mode():
            return model.encode_image(transform(shown)[None])[0].double().numpy()

    def text(words):
        with torch.inference_mode():
            return model.encode_text(open_clip.get_tokenizer("tiny")([words]))[0].double().numpy()

    def unit(vector):
        return vector / np.linalg.norm(vector)

    expected: dict[tuple[str, bool], list[float]] = {}
    for one in templates.templates.all():
        image, words = feature(one.reference_id, one.box_of(None)), text(one.condition)
        seen = [unit(feature(pk, one.box_of(i))) for i, pk in enumerate(one.candidates)]
        queries = {
            ("image", False): image,
            ("text", False): words,
            ("image_text", False): image + words,
            ("image_text", True): unit(image) + unit(words),
        }
        for key, query in queries.items():
            scores = [float(unit(query) @ vector) for vector in seen]
            expected.setdefault(key, []).append(sum(s > scores[-1] for s in scores))
    for key, better in expected.items():
        row = TemplateScore.objects.get(model=TINY, baseline=key[0], is_normalised=key[1])
        for k in (1, 2, 3):
            found = row.figures["recall"]["expected"][str(k)]
            assert found == pytest.approx(np.mean([n < k for n in better])), key
        assert row.figures["chance"] == {"1": 0.25, "2": 0.5, "3": 0.75}
    assert TemplateScore.objects.count() == 4


def test_an_embedding_set_is_asked_by_the_image_and_ties_are_kept_apart(templates):
    templates.templates.update(boxes={})
    vectors = np.tile([1.0, 0.0], (8, 1)).astype(np.float32)  # all alike
    embedding_set_of(templates.catalog, vectors, "timm:constant")
    result = scored(templates, "timm:constant")
    [one] = result["scores"]
    assert one["recall"]["expected"] == {"1": 0.25, "2": 0.5, "3": 0.75} == one["chance"]
    assert (one["recall"]["pessimistic"]["3"], one["recall"]["optimistic"]["1"]) == (0, 1)
    assert one["n_ties"] == one["n_templates"] == 3
    scored(templates, "timm:constant")
    assert TemplateScore.objects.count() == 1  # scoring again replaces


def test_what_cannot_be_scored_is_said(templates, people):
    with pytest.raises(Refused, match="neither an open_clip model"):
        known_model(templates, "timm:resnet18")
    embedding_set_of(templates.catalog, np.ones((8, 2), np.float32), "timm:made")
    with pytest.raises(Refused, match="parts of images"):
        known_model(templates, "timm:made")
    with pytest.raises(JobError, match="no architecture"):
        scored(templates, "open_clip:no-such-model/t")
    assert not TemplateScore.objects.exists()
    [admin] = people(1, Role.ADMIN)
    request_score(template_set=templates, model=f" {TINY} ", owner=admin)
    assert Job.objects.get(task=SCORE_TASK, owner=admin).arguments["model"] == TINY
    with pytest.raises(JobError, match="already queued"):
        request_score(template_set=templates, model=TINY, owner=admin)


def test_the_form_offers_no_text_space_that_it_then_refuses(templates):
    for head in ("", "in-red"):
        Projection.objects.create(
            slug="space", head=head, name="Space", parent_spec="timm:made", dim=2,
            parent_fingerprint="f", fingerprint=f"f{head}", sha256="0" * 64,
        )  # fmt: skip

    def offered():
        names = scores_context(templates)["known_models"]
        return [name for name in names if not name.startswith("open_clip:")]

    assert offered() == []
    with pytest.raises(Refused, match=r"compares images by timm:made, of which .* embed it first"):
        known_model(templates, "notions:space")
    embedding_set_of(templates.catalog, np.ones((8, 2), np.float32), "timm:made")
    assert offered() == []  # a template shows a part of an image
    templates.templates.update(boxes={})
    assert offered() == ["timm:made", "notions:space"]
    assert known_model(templates, "notions:space") == "notions:space"


def test_the_page_shows_scores_and_lets_admins_alone_ask_for_more(templates, people, client):
    templates.templates.update(boxes={})
    embedding_set_of(templates.catalog, np.eye(8, 3, dtype=np.float32) + 0.1, "timm:made")
    scored(templates, "timm:made")
    page = f"/templates/sets/{templates.slug}/"
    for role, may_ask in ((Role.ADMIN, True), (Role.RESEARCHER, False)):
        client.force_login(people(1, role)[0])
        shown = client.get(page).content.decode()
        assert "timm:made" in shown
        assert "Image only" in shown
        assert ("Score it" in shown) is may_ask
        assert client.post(f"{page}score", {"model": TINY}).status_code == (302 if may_ask else 403)
    assert Job.objects.filter(task=SCORE_TASK, title__contains=TINY).count() == 1
    client.force_login(people(1, Role.ADMIN)[0])
    refused = client.post(f"{page}score", {"model": "nonsense"}, follow=True).content.decode()
    assert "neither an open_clip model" in refused
    client.force_login(people(1)[0])
    assert client.post(f"{page}score", {"model": TINY}).status_code == 403


def test_the_command_averages_over_sets(templates):
    templates.templates.update(boxes={})
    embedding_set_of(templates.catalog, np.ones((8, 2), np.float32), "timm:made")
    out = StringIO()
    call_command("score_templates", "colours", "--model", "timm:made", "--json", stdout=out)
    [row] = json.loads(out.getvalue())["scores"]
    assert row["recall"] == {"1": 0.25, "2": 0.5, "3": 0.75}
    assert [one["set"] for one in row["by_set"]] == ["colours"]
    with pytest.raises(CommandError, match="no set “none”"):
        call_command("score_templates", "none", "--model", "timm:made")
    with pytest.raises(CommandError, match="neither an open_clip model"):
        call_command("score_templates", "colours", "--model", "timm:other")
