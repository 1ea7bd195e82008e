"""What networks of several conditions become: maps of vectors that numpy applies as torch does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.nn.functional import normalize

from lookalike.backbones.protocol import unit_rows
from lookalike.core.arrays import Float32s
from lookalike.core.errors import Refused
from lookalike.learning.compose.catalog_combiner import (
    ComposedImages,
    LearntCombiner,
    learn_combiner,
)
from lookalike.learning.compose.combiner import Combiner, TrainedCombiner, Widths
from lookalike.learning.compose.recipe import CombinerRecipe
from lookalike.learning.embeddings.conditions import ConditionMaps
from lookalike.learning.embeddings.learn import KnownImages, learn_embedding
from lookalike.learning.embeddings.recipe import DISCOVERNETS, GUESSED, EmbeddingRecipe
from lookalike.learning.engine.determinism import stream
from lookalike.learning.fixed_condition import FixedCondition, load_projection
from lookalike.learning.lit.captions import read_attributes
from lookalike.learning.metric.classes import Classes
from lookalike.learning.projection import Layer, Layers

COLOURS, KINDS = ("red", "green", "blue"), ("bag", "hat")
N = 120
CSN = EmbeddingRecipe(("colour", "kind"), "CSN", dim=6, hidden=8, epochs=4)


def world(colour: float = 0.4) -> tuple[np.ndarray, list[dict[str, str]], list[str]]:
    """Images of two attributes on axes of their own, two of each product."""
    rng = stream(0, "world")
    codes = [rng.integers(0, len(of), N // 2).repeat(2) for of in (COLOURS, KINDS)]
    axes = np.hstack(
        [np.eye(len(of))[code] for of, code in zip((COLOURS, KINDS), codes, strict=True)]
    )
    vectors = (axes * ([colour] * 3 + [1.0] * 2) + 0.15 * rng.standard_normal(axes.shape)).astype(
        np.float32
    )
    rows = [{"colour": COLOURS[a], "kind": KINDS[b]} for a, b in zip(*codes, strict=True)]
    return vectors, rows, [f"product {row // 2}" for row in range(N)]


class TestConditions:
    def test_a_head_is_the_masked_network_and_the_whole_is_the_network_without_a_mask(self):
        vectors, rows, _ = world()
        classes = {name: Classes.of([row[name] for row in rows]) for name in CSN.columns}
        maps = ConditionMaps(vectors, classes, CSN)
        for step in range(3):
            maps.step(step)
        unit = unit_rows(vectors)
        inputs = torch.from_numpy((unit - unit.mean(axis=0)) / (unit.std(axis=0) + 1e-4)).float()
        with torch.no_grad():
            wanted = normalize(maps.network.embeddings(inputs), dim=2).numpy()
            common = normalize(maps.network.body(inputs), dim=1).numpy()
        heads = maps.heads({})
        assert list(heads) == ["colour", "kind"]
        for place, head in enumerate(heads.values()):
            assert_allclose(head.apply(vectors), wanted[:, place], atol=1e-5)
        assert_allclose(maps.projection().apply(vectors), common, atol=1e-5)

    @pytest.mark.parametrize("method", GUESSED)
    def test_heads_that_guess_are_those_of_the_network_and_each_label_has_its_best(self, method):
        vectors, rows, _ = world()
        classes = {name: Classes.of([row[name] for row in rows]) for name in CSN.columns}
        recipe = replace(CSN, method=method, n_conditions=3)
        maps = ConditionMaps(vectors, classes, recipe)
        for step in range(3):
            maps.step(step)
        wanted = maps.embeddings()
        heads = maps.heads({})
        assert list(heads) == ["condition-1", "condition-2", "condition-3"]
        for place, head in enumerate(heads.values()):
            assert_allclose(head.apply(vectors), wanted[place], atol=1e-5)
        best = maps.best_heads()
        assert list(best) == ["colour", "kind"]
        assert set(best.values()) <= set(heads)

    @pytest.mark.parametrize("method", DISCOVERNETS)
    @pytest.mark.parametrize(
        "changes",
        [{"is_residual": True}, {"is_squared": True}, {"is_cosine": True, "temperature": 0.1},
         {"is_branch_trained": True}],
    )  # fmt: skip
    def test_options_of_discovernet_are_in_its_heads_and_on_its_card(self, method, changes):
        vectors, rows, _ = world()
        classes = {name: Classes.of([row[name] for row in rows]) for name in CSN.columns}
        plain = ConditionMaps(vectors, classes, replace(CSN, method=method))
        maps = ConditionMaps(vectors, classes, replace(CSN, method=method, **changes))
        assert not any(of.requires_grad for of in plain.network.branch.parameters())
        for step in range(3):
            plain.step(step)
            maps.step(step)
        for place, head in enumerate(maps.heads({}).values()):
            assert_allclose(head.apply(vectors), maps.embeddings()[place], atol=1e-5)
        assert not np.allclose(maps.embeddings(), plain.embeddings())
        assert {name: maps.card[name] for name in changes} == changes
        with pytest.raises(Refused, match=f"{next(iter(changes))}: is an option of DiscoverNet"):
            replace(CSN, **changes)

    def test_the_head_of_a_label_is_the_one_that_knows_it(self):
        vectors, rows, _ = world()
        classes = {name: Classes.of([row[name] for row in rows]) for name in CSN.columns}
        maps = ConditionMaps(vectors, classes, replace(CSN, method="LSN", hidden=0, dim=5))
        with torch.no_grad():  # the first condition looks at kinds, the second one at colours
            weight, bias = maps.network.body.parameters()
            weight.copy_(torch.eye(5))
            bias.zero_()
            maps.network.masks.copy_(torch.tensor([[0.0, 0, 0, 1, 1], [1, 1, 1, 0, 0]]))
        assert maps.best_heads() == {"colour": "condition-2", "kind": "condition-1"}

    def test_one_embedding_of_all_triplets_has_no_heads(self, tmp_path):
        vectors, rows, products = world()
        recipe = replace(CSN, method="single", epochs=1)
        learnt = learn_embedding(KnownImages(vectors, rows, products, "p"), recipe, tmp_path)
        assert not learnt.heads
        assert not learnt.best_heads
        assert set(learnt.found) == {"colour", "kind"}

    def test_each_head_finds_its_own_attribute_on_products_held_out(self, tmp_path):
        vectors, rows, products = world()
        learnt = learn_embedding(KnownImages(vectors, rows, products, "p"), CSN, tmp_path)
        assert set(learnt.heads) == {"colour", "kind"}
        for name in CSN.columns:
            before, after = learnt.found[name]
            assert before is not None
            assert after is not None
            assert after > before if name == "colour" else after > 0.9
        assert learnt.heads["kind"].card["condition"] == "kind"
        again = learn_embedding(KnownImages(vectors, rows, products, "p"), CSN, tmp_path / "again")
        assert again.heads["kind"].fingerprint == learnt.heads["kind"].fingerprint

    def test_conditions_are_not_guided_by_words(self):
        with pytest.raises(Refused, match="words: CSN is not guided by words"):
            EmbeddingRecipe(("colour",), "CSN", "names")
        with pytest.raises(Refused, match="n_conditions: CSN has a number of its own"):
            replace(CSN, n_conditions=2)


class TestCombiner:
    def test_with_one_condition_it_is_a_map_that_a_file_holds(self, tmp_path):
        torch.manual_seed(0)
        combiner = TrainedCombiner(Combiner(Widths(5, 7, 9)).eval(), {"method": "Combiner"})
        rng = stream(0, "maps")

        def normal(*shape: int) -> Float32s:
            return rng.standard_normal(shape, np.float32)

        images = Layers(4, (Layer(normal(5, 4), normal(5)),), {"a": 1})
        text = unit_rows(normal(1, 5))[0]
        made = FixedCondition(images, text, combiner.layers, {"condition": "colour"})
        vectors = normal(6, 4)
        wanted = combiner.queries(images.apply(vectors), np.tile(text, (6, 1)))
        assert_allclose(made.apply(vectors), wanted, atol=1e-5)
        path = tmp_path / "map.safetensors"
        path.write_bytes(made.content())
        read = load_projection(path)
        assert isinstance(read, FixedCondition)
        assert read.content() == made.content()
        assert_allclose(read.apply(vectors), made.apply(vectors), atol=1e-6)
        path.write_bytes(images.content())
        assert isinstance(load_projection(path), Layers)
        path.write_bytes(b"x")
        with pytest.raises(Refused, match="is no projection"):
            load_projection(path)

    def learnt(self, folder: Path, **changes: Any) -> LearntCombiner:
        vectors, rows, products = world(colour=1.0)
        words = dict(zip((*COLOURS, *KINDS), np.eye(5), strict=True))

        def read(texts):
            of = [
                sum((words[one] for one in words if one in text), np.full(5, 0.01))
                for text in texts
            ]
            return unit_rows(np.array(of, np.float32))

        held_out = np.arange(N) >= N * 3 // 4
        images = ComposedImages(unit_rows(vectors), read_attributes(rows), products, held_out, read)
        given: dict[str, Any] = {
            "n_triplets": 600,
            "projection": 16,
            "hidden": 16,
            "batch": 32,
            **changes,
        }
        return learn_combiner(images, CombinerRecipe("kind", ("colour",), **given), folder)

    def test_it_keeps_a_value_or_changes_it_as_it_is_told(self, tmp_path):
        learnt = self.learnt(tmp_path)
        assert set(learnt.found) == {"same colour", "other colour"}
        assert learnt.found["same colour"][1] > 0.8
        assert learnt.found["other colour"][1] > 0.8
        assert learnt.seen.max() < N * 3 // 4
        assert set(learnt.conditions) == {"colour"}

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"columns": ("kind",)}, "columns: name attributes besides 'kind'"),
            ({"subject": ""}, "subject: name the attribute"),
            ({"n_triplets": 1}, "n_triplets: 1 is below 2"),
        ],
    )
    def test_what_cannot_be_learnt_is_refused(self, changes, sentence):
        with pytest.raises(Refused) as caught:
            CombinerRecipe(**{"subject": "kind", "columns": ("colour",), **changes})
        assert sentence in str(caught.value)
