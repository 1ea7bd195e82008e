"""How long the losses of metric learning take, beside those of pytorch-metric-learning.

    python -m benchmarks.learning_losses [--rounds 15]

A batch is as in the paper on language guidance: 112 images, two of a class, 128 numbers. A step is
the loss and its slope, on one thread; with Margin the mining of triplets belongs to it. Ours and
theirs take turns, and the median is printed, in milliseconds of a processor. Guided
steps, with Adam, are those of a layer on frozen features of 1,024 numbers, of
`lookalike learn embedding` on such features (1,024 to 512 to 128), by Multisimilarity and by
Margin, and with `--images` of `lookalike learn network`, EfficientNet-lite0 on pictures of 96
pixels, the reading of which belongs to a step. What guidance adds
is the median of pairs: of each round the guided steps beside the plain ones.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import timm
import torch
from PIL import Image
from pytorch_metric_learning.losses import MarginLoss, MultiSimilarityLoss
from pytorch_metric_learning.miners import DistanceWeightedMiner, MultiSimilarityMiner
from torch.nn.functional import normalize

from lookalike.backbones.timm_models import timm_pixels
from lookalike.images.sources import open_source
from lookalike.learning.engine.adam import Adam
from lookalike.learning.losses.margin import distance_weighted, margin_loss
from lookalike.learning.losses.matching import language_rows, matching
from lookalike.learning.losses.multisimilarity import multisimilarity
from lookalike.learning.losses.pairs import sides_of
from lookalike.learning.metric.classes import Classes
from lookalike.learning.metric.language import Language
from lookalike.learning.metric.training import MetricLearner, MetricSettings, Objective
from lookalike.learning.networks.pictures import LearntPictures
from lookalike.learning.networks.settings import NetworkSettings
from lookalike.learning.networks.training import NetworkLearner

EMBEDDINGS: dict[str, Objective] = {
    "embedding by Multisimilarity": "multisimilarity",
    "embedding by Margin": "margin",
}
BATCH, DIM, N_FEATURES, PIXELS = 112, 128, 1024, 96
Loss = Callable[[torch.Tensor], torch.Tensor]


def spent_by(
    steps: dict[str, Callable[[], object]], rounds: int, times: int
) -> dict[str, list[float]]:
    """Return the milliseconds of a processor of each step, of every round.

    All take turns, each of so many `times` one after the other, as training does them.
    """
    spent: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 1):
        for name, step in steps.items():
            start = time.thread_time()
            for _ in range(times):
                step()
            if number:
                spent[name].append(1000 * (time.thread_time() - start) / times)
    return spent


def repeated(losses: dict[str, Loss], X: torch.Tensor) -> dict[str, Callable[[], object]]:
    """Return steps that take the slope of each loss."""

    def step(loss: Loss) -> None:
        torch.autograd.grad(loss(normalize(X, dim=1)), X)

    return {name: partial(step, loss) for name, loss in losses.items()}


def trained(
    prefix: str, adam: Adam, steps: dict[str, Callable[[], torch.Tensor]]
) -> dict[str, Callable[[], object]]:
    """Return steps of Adam for each loss."""

    def step(loss: Callable[[], torch.Tensor]) -> None:
        adam.step(loss())

    return {f"{prefix}, {name}": partial(step, loss) for name, loss in steps.items()}


def loss_steps(labels: torch.Tensor) -> dict[str, Callable[[], object]]:
    """Return the four steps of losses on one batch."""
    X = torch.randn(BATCH, DIM).requires_grad_()
    rng = np.random.default_rng(0)
    boundaries = torch.full((int(labels.max()) + 1,), 1.2, requires_grad=True)
    ms_miner, ms = MultiSimilarityMiner(0.1), MultiSimilarityLoss(2, 40, 0.5)
    margin_miner = DistanceWeightedMiner(0.5, 2.1)
    margin = MarginLoss(num_classes=len(boundaries), learn_beta=True)

    def our_margin(E: torch.Tensor) -> torch.Tensor:
        triplets = distance_weighted(E, labels, rng)
        return margin_loss(*sides_of(E, triplets), boundaries[labels[triplets[:, 0]]])

    losses: dict[str, Loss] = {
        "Multisimilarity, ours": lambda E: multisimilarity(E, labels),
        "Multisimilarity, theirs": lambda E: ms(E, labels, ms_miner(E, labels)),
        "Margin, ours": our_margin,
        "Margin, theirs": lambda E: margin(E, labels, margin_miner(E, labels)),
    }
    return repeated(losses, X)


def layer_steps(labels: torch.Tensor) -> dict[str, Callable[[], object]]:
    """Return a step on frozen features, plain and guided."""
    W = torch.randn(DIM, N_FEATURES) / N_FEATURES**0.5
    features = torch.randn(BATCH, N_FEATURES)
    adam = Adam([W], 1e-5, weight_decay=3e-4)
    steps = steps_of(lambda: normalize(features @ W.T, dim=1), labels)
    return trained("features", adam, steps)


def embedding_steps() -> dict[str, Callable[[], object]]:
    """Return a step of learning an embedding as the command does, plain and guided."""
    n_classes = BATCH // 2
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((27 * n_classes, N_FEATURES), np.float32)
    classes = Classes.of([f"class {row % n_classes:02d}" for row in range(len(vectors))])
    words = Language(language_rows(torch.randn(n_classes, 5, 384)).numpy())
    settings = MetricSettings(steps=10**6, n_classes=n_classes)

    def steps_of_learner(objective: Objective, language: Language | None) -> Callable[[], object]:
        how = replace(settings, objective=objective)
        learner, numbers = MetricLearner(vectors, classes, how, language), count()
        return lambda: learner.step(next(numbers))

    return {
        f"{name}, {guidance}": steps_of_learner(objective, language)
        for name, objective in EMBEDDINGS.items()
        for guidance, language in (("plain", None), ("guided", words))
    }


def network_steps(folder: Path) -> dict[str, Callable[[], object]]:
    """Return a step of `lookalike learn network`, plain and guided, on pictures of a folder."""
    names = [f"{number}.png" for number in range(BATCH)]
    rng = np.random.default_rng(0)
    for name in names:
        Image.fromarray(rng.integers(0, 256, (PIXELS, PIXELS, 3), np.uint8)).save(folder / name)
    model = timm.create_model("tf_efficientnet_lite0", num_classes=0)
    settings = NetworkSettings("timm:tf_efficientnet_lite0", batch=BATCH, image_size=PIXELS)
    pixels = timm_pixels(model, settings.model, PIXELS)[0]
    pictures = LearntPictures(open_source(folder), names, pixels, PIXELS, crop=0.4, seed=0)
    classes = Classes.of([f"class {row // 2:02d}" for row in range(BATCH)])
    words = Language(language_rows(torch.randn(BATCH // 2, 5, 384)).numpy())

    def step_of_learner(language: Language | None) -> Callable[[], object]:
        learner, numbers = NetworkLearner(
            deepcopy(model), pictures, np.arange(BATCH), classes, settings, language=language,
            trial=None, device=torch.device("cpu"),
        ), count(1)  # fmt: skip
        return lambda: learner.step(next(numbers))

    return {"network, plain": step_of_learner(None), "network, guided": step_of_learner(words)}


def steps_of(
    embed: Callable[[], torch.Tensor], labels: torch.Tensor
) -> dict[str, Callable[[], torch.Tensor]]:
    """Return the loss of an embedding, plain and guided."""
    words = language_rows(torch.randn(int(labels.max()) + 1, 5, 384))
    language = words @ words.T

    def guided() -> torch.Tensor:
        E = embed()
        cosines, alike = E @ E.T, language.index_select(0, labels).index_select(1, labels)
        pairs = multisimilarity(E, labels, cosines=cosines)
        return pairs + 7.5 * matching(E, labels, alike, cosines=cosines)

    return {"plain": lambda: multisimilarity(embed(), labels), "guided": guided}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--images", type=int, default=0, metavar="ROUNDS", help="of a network")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    labels = torch.arange(BATCH) // 2
    spent = spent_by(loss_steps(labels), arguments.rounds, 20)
    steps, names = layer_steps(labels) | embedding_steps(), ["features", *EMBEDDINGS]
    for name in names:  # a pair by itself: what runs between steps takes their cache
        pair = {of: steps[of] for of in (f"{name}, plain", f"{name}, guided")}
        spent |= spent_by(pair, 10 * arguments.rounds, 2)
    if arguments.images:
        names.append("network")
        with TemporaryDirectory() as folder:
            spent |= spent_by(network_steps(Path(folder)), arguments.images, 1)
    found = {name: statistics.median(took) for name, took in spent.items()}
    for name, milliseconds in found.items():
        print(f"{name:34s} {milliseconds:9.2f} ms")
    for name in ("Multisimilarity", "Margin"):
        share = found[f"{name}, ours"] / found[f"{name}, theirs"]
        print(f"{name}: ours takes {share:.2f} of theirs")
    for name in names:
        took, beside = spent[f"{name}, guided"], spent[f"{name}, plain"]
        shares = [100 * (one / other - 1) for one, other in zip(took, beside, strict=True)]
        low, middle, high = statistics.quantiles(shares, n=4)
        print(
            f"{name}: guidance adds {middle:.1f} % to a step (middle half of {len(shares)} pairs: "
            f"{low:.1f} to {high:.1f} %)"
        )


if __name__ == "__main__":
    main()
