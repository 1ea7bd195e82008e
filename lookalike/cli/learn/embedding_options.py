"""The options of `learn embedding`, which `manage.py learn_embedding` has as well. No torch."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from lookalike.cli.options import comma_list, seed
from lookalike.learning.embeddings.recipe import METHODS
from lookalike.learning.held_out import HOLD_OUT, USUAL

RECIPE = (
    "columns", "method", "words", "weight", "dim", "hidden", "epochs", "seed", "n_conditions",
    "hold_out", "is_branch_trained", "is_squared", "is_cosine", "is_residual", "temperature",
)  # fmt: skip


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add all options of an `EmbeddingRecipe` but its words."""
    parser.add_argument(
        "--columns", type=comma_list, required=True, metavar="NAMES",
        help="attributes, or product: images that agree in all are of one class; fine-tuning "
        "classifies each, CSN learns a map for each, and methods that infer conditions draw "
        "triplets of each",
    )  # fmt: skip
    parser.add_argument("--method", choices=METHODS, default=METHODS[0])
    for name, default in (("dim", 128), ("hidden", 512), ("epochs", 20)):
        parser.add_argument(
            f"--{name}", type=int, default=default, metavar="N", help="default: %(default)s"
        )
    parser.add_argument(
        "--conditions", dest="n_conditions", type=int, default=0, metavar="N",
        help="maps of methods that infer conditions; default: as many as columns",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--hold-out", choices=HOLD_OUT[1:], default=USUAL,
        help="a fifth of these is not learned from, to ask about; with products, classes may be "
        "known from other products; default: products, or images where no product is known",
    )  # fmt: skip
    _add_discovernet(parser.add_argument_group("DiscoverNet (default: as its released code)"))


def recipe_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `EmbeddingRecipe` from parsed options."""
    return {name: options[name] for name in RECIPE} | {"columns": tuple(options["columns"])}


def _add_discovernet(group: argparse._ArgumentGroup) -> None:
    flags = {
        "train-branch": ("is_branch_trained", "train the branch that infers conditions, which "
                         "otherwise stays as it was drawn"),
        "squared": ("is_squared", "squared distances (equation 1)"),
        "cosine": ("is_cosine", "match triplets and conditions by cosines (equation 7)"),
        "residual": ("is_residual", "add the common vector to each condition's (equation 8)"),
    }  # fmt: skip
    for flag, (name, what) in flags.items():
        group.add_argument(f"--{flag}", dest=name, action="store_true", help=what)
    group.add_argument(
        "--temperature", type=float, default=0.0, metavar="T",
        help="of the softmax over conditions (ς of equation 7); default: 1",
    )  # fmt: skip
