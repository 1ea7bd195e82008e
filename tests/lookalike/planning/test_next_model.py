"""What a further model would bring: foretold, and come."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.cli.main import main
from lookalike.core.errors import Refused
from lookalike.planning.next_model import builders_as_newcomers, next_models
from lookalike.planning.simulator import World, simulate

WORLD = World(n_queries=150, n_images=60, n_models=5, depth=5, best=0.5, worst=1.5)
BUILDERS = ("model-2", "model-3", "model-4")


def judged_by_three(seed: int):
    """A campaign of which three of five models have built the pool: labels of their pairs."""
    campaign = simulate(WORLD, seed)
    built = campaign.pool.proposed[1:4].any(axis=0)
    return campaign, np.where(built, campaign.labels, np.nan)


def test_the_better_newcomer_comes_first_and_about_as_many_are_found_as_foretold():
    expected, came = np.zeros(2), np.zeros(2)
    for seed in range(4):
        campaign, labels = judged_by_three(seed)
        pool = campaign.pool
        found = next_models(pool, labels, BUILDERS)
        assert [one.model for one in found] == ["model-1", "model-5"]
        built = pool.proposed[1:4].any(axis=0)
        for i, one in enumerate(found):
            is_new = pool.proposed[pool.models.index(one.model)] & ~built
            assert one.n_new == is_new.sum()
            assert np.isnan(one.found)
            expected[i] += one.expected
            came[i] += campaign.labels[is_new].sum()
        assert found[0].per_hour(5, 3) > 2 * found[1].per_hour(5, 3)
    assert expected == pytest.approx(came, rel=0.35)


def test_builders_are_foretold_as_if_they_were_newcomers():
    campaign, labels = judged_by_three(1)
    rows = builders_as_newcomers(campaign.pool, labels, BUILDERS)
    assert [one.model for one in rows] == list(BUILDERS)
    own = campaign.pool.proposed[1] & ~campaign.pool.proposed[2:4].any(axis=0)
    assert (rows[0].n_new, rows[0].found) == (own.sum(), campaign.labels[own].sum())
    total = sum(one.found for one in rows)
    assert sum(one.expected for one in rows) == pytest.approx(total, rel=0.35)


def test_what_it_foretells_of_a_builder_does_not_look_at_the_builders_own_pairs():
    campaign, labels = judged_by_three(2)
    own = campaign.pool.proposed[1] & ~campaign.pool.proposed[2:4].any(axis=0)
    turned = np.where(own & ~np.isnan(labels), 1 - labels, labels)
    before, after = (builders_as_newcomers(campaign.pool, t, BUILDERS)[0] for t in (labels, turned))
    assert before.expected == after.expected
    assert before.found != after.found


def test_without_labels_builders_or_newcomers_nothing_is_foretold():
    campaign, labels = judged_by_three(1)
    with pytest.raises(Refused, match="0 labels are too few"):
        next_models(campaign.pool, np.full(labels.size, np.nan), BUILDERS)
    for builders in ((), campaign.pool.models):
        with pytest.raises(Refused, match="have built the pool, and of some that not"):
            next_models(campaign.pool, labels, builders)


def test_the_command_names_the_model_to_add(tmp_path, capsys):
    folder = tmp_path / "made"
    world = "--queries 60 --images 30 --models 3 --depth 4 --best 0.5 --worst 1.5".split()  # noqa: SIM905
    assert main(["simulate", str(folder), *world]) == 0
    for name in ("proposals", "qrels"):  # of the models 2 and 3 alone
        lines = (folder / "proposals.csv").read_text().splitlines()
        built = {",".join(line.split(",")[:2]) for line in lines if "model-1" not in line}
        rows = (folder / f"{name}.csv").read_text().splitlines()
        kept = [r for r in rows if ",".join(r.split(",")[:2]) in built and "model-1" not in r]
        (folder / f"{name}.csv").write_text(
            "\n".join(sorted({rows[0], *kept}, reverse=True)) + "\n"
        )
    files = ["--proposals", str(folder / "proposals.csv"), "--qrels", str(folder / "qrels.csv")]
    runs = [word for m in (1, 2, 3) for word in ("--run", str(folder / f"runs/model-{m}.csv"))]
    capsys.readouterr()
    assert main(["next-model", *files, *runs, "--seconds", "4", "--judges", "2"]) == 0
    said = capsys.readouterr()
    assert "model-1" in said.out
    assert "as if it were new" in said.out
    assert main(["next-model", *files, *runs[2:]]) == 2
    assert "some that not" in capsys.readouterr().err
