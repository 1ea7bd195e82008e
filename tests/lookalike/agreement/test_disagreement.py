"""Groups of contested pairs: those that were planted are found, and chance makes none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from lookalike.agreement.disagreement import Relation, disagreement_groups
from lookalike.cli.main import main

COLOURS = ("red", "blue", "green", "black")


def pairs(rng: np.random.Generator, n: int = 2_000):
    """Colours and shapes of the images of pairs."""
    colours = rng.choice(COLOURS, (2, n))
    shapes = rng.choice(("round", "long"), (2, n))
    return {"colour": (colours[0], colours[1]), "shape": (shapes[0], shapes[1])}


def test_two_colours_that_divide_judges_are_named_with_what_to_write():
    rng = np.random.default_rng(1)
    values = pairs(rng)
    a, b = values["colour"]
    red_blue = ((a == "red") & (b == "blue")) | ((a == "blue") & (b == "red"))
    contested = rng.random(a.size) < np.where(red_blue, 0.6, 0.1)
    first, *others = disagreement_groups(contested, values)
    assert first.relation == Relation("colour", "blue", "red")
    assert (first.n_pairs, first.n_contested) == (red_blue.sum(), (red_blue & contested).sum())
    assert first.elsewhere == pytest.approx(contested[~red_blue].mean())
    assert set(first.contested) == set(np.flatnonzero(red_blue & contested))
    assert first.relation.words == "colour: blue and red"
    assert "whether blue and red can be similar (colour)" in first.relation.passage
    assert all(one.relation == Relation("colour") for one in others)  # of which it is a part


def test_its_p_value_is_that_of_chance_times_the_groups_tried():
    contested = np.repeat([True, False], [12, 88])
    side = np.where(np.arange(100) < 20, "a", "b")
    found = disagreement_groups(contested, {"side": (side.tolist(), side.tolist())})
    # tried: the same side (all pairs), both a; both b has no contested pair
    assert found[0].p_value == pytest.approx(2 * hypergeom.sf(11, 100, 12, 20))
    assert found[0].relation.words == "side: both a"


def test_where_judges_disagree_by_chance_hardly_ever_a_group_is_named():
    rng, n_named = np.random.default_rng(2), 0
    for _ in range(100):
        values = pairs(rng, 400)
        vectors = rng.normal(size=(2, 400, 4)).astype(np.float32)
        contested = rng.random(400) < 0.2
        n_named += bool(disagreement_groups(contested, values))
        n_named += bool(disagreement_groups(contested, {}, (vectors[0], vectors[1])))
    assert n_named <= 20  # of 200, 5 % each at most


def test_pictures_that_look_alike_are_found_without_attributes_the_typical_first():
    rng = np.random.default_rng(3)
    direction = np.eye(8)[0]
    is_kind = rng.random(1_000) < 0.15
    noise = rng.normal(size=(2, 1_000, 8))
    vectors = (noise * 0.3 + np.where(is_kind[:, None], 4 * direction, noise[::-1])).astype(
        np.float32
    )
    contested = rng.random(1_000) < np.where(is_kind, 0.7, 0.05)
    first = disagreement_groups(contested, {}, (vectors[0], vectors[1]))[0]
    assert first.relation == Relation()
    assert is_kind[first.contested].mean() > 0.9
    assert first.share > 5 * first.elsewhere
    near = vectors.sum(axis=0) @ direction / np.linalg.norm(vectors.sum(axis=0), axis=1)
    assert near[first.contested[:10]].mean() > near[first.contested[-10:]].mean()


def test_next_to_nothing_contested_or_all_of_it_makes_no_group():
    values = {"side": (["a"] * 50, ["b"] * 50)}
    for n in (0, 4, 50):
        assert disagreement_groups(np.arange(50) < n, values) == []


def test_the_command_reads_votes_attributes_and_vectors(tmp_path, capsys):
    rng = np.random.default_rng(4)
    names = [f"i{i:03d}" for i in range(120)]
    colour = {name: COLOURS[i % 4] for i, name in enumerate(names)}
    lines = ["query,candidate,annotator,value"]
    for q in range(0, 60):
        for c in rng.choice(np.arange(60, 120), 12, replace=False).tolist():
            both = {colour[names[q]], colour[names[c]]}
            n_similar = int(rng.integers(1, 3)) if both == {"red", "blue"} else 0
            lines += [f"{names[q]},{names[c]},j{j},{int(j < n_similar)}" for j in range(3)]
    votes, images = tmp_path / "votes.csv", tmp_path / "images.csv"
    votes.write_text("\n".join(lines) + "\n")
    rows = [f"{name},{value}" for name, value in colour.items()]
    images.write_text("\n".join(["path,colour", *rows]) + "\n")
    vectors = tmp_path / "vectors.npz"
    np.savez(vectors, ids=np.array(names), vectors=rng.normal(size=(120, 6)).astype(np.float32))
    command = ["disagreement", "--votes", str(votes)]
    by_colour = ["--attributes", str(images), "--attribute", "colour"]
    assert main([*command, *by_colour, "--vectors", str(vectors)]) == 0
    text = capsys.readouterr().out
    assert "colour: blue and red" in text
    assert "such as i" in text
    assert main([*command, "--vectors", str(vectors)]) == 0
    assert "No kind of pairs is contested more often" in capsys.readouterr().out
    for wrong, reason in (
        (command, "name one"),
        ([*command, *by_colour[:2]], "go together"),
    ):
        assert main(wrong) == 2
        assert reason in capsys.readouterr().err
