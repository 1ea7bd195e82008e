"""Language guidance: images of two classes shall be as alike as the classes' words are."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import torch
from torch.nn.functional import log_softmax, normalize

from lookalike.core.errors import Refused
from lookalike.learning.losses.pairs import check_batch

Direction = Literal["backward", "forward"]
Mask = Literal["both", "image"]
Compare = Literal["rows", "matrix", "distance"]


def language_rows(words: torch.Tensor) -> torch.Tensor:
    """Return vectors whose dot products are how alike what is said is.

    Of several words, the first is compared with the first and so on; similarities are averaged,
    not vectors.

    >>> language_rows(torch.tensor([[[2.0, 0.0], [0.0, 1.0]]])).tolist()
    [[0.707..., 0.0, 0.0, 0.707...]]

    Args:
        words: vectors of each class or image, shape (n, e), or (n, k, e) with k words in turn.

    Returns:
        Shape (n, k * e), rows of length 1.

    Raises:
        Refused: another shape, or a word without a direction.
    """
    if words.ndim not in (2, 3):
        raise Refused("words", f"shape {tuple(words.shape)} is neither (n, e) nor (n, k, e)")
    parts = words[:, None] if words.ndim == 2 else words
    lengths = parts.norm(dim=2)
    bad = (~lengths.isfinite() | (lengths == 0)).nonzero()
    if len(bad):
        raise Refused(
            "words", f"word {int(bad[0, 1]) + 1} of row {int(bad[0, 0])} has no direction"
        )
    rows: torch.Tensor = normalize(parts, dim=2).flatten(1) / math.sqrt(parts.shape[1])
    return rows


def one_class(labels: torch.Tensor, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Return 1 for each two images of one class and 0 for others, shape (B, B).

    As numbers, since lerp is three times as fast as masked_fill.

    >>> one_class(torch.tensor([0, 0, 1])).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return (labels[:, None] == labels[None]).to(dtype)


def matching(
    vectors: torch.Tensor,
    labels: torch.Tensor,
    language: torch.Tensor,
    *,
    shift: float = 1.0,
    temperature: float = 1.0,
    direction: Direction = "backward",
    mask: Mask = "both",
    compare: Compare = "rows",
    cosines: torch.Tensor | None = None,
    same: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return how far the similarities of images are from those of language.

    Source: Roth, Vinyals and Akata, "Integrating Language Guidance into Vision-based Deep Metric
    Learning" (CVPR 2022), equations 2 to 4: each row of either is a distribution over the batch,
    and "backward" is the divergence of the images' from the language's, as equation 2 and the
    released commands have it; "forward" is the other way round. Within a class both hold
    1 + `shift`, in the paper on the side of images alone (`mask="image"`); that differs only
    where images of one class have words of their own. Nothing flows back into `language`.

    Of its Table 4 there are two other ways to compare, whose formulas it does not state: the
    divergence of the whole matrix as one distribution, and the mean Euclidean distance of rows.

    >>> E = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> words = torch.tensor([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    >>> round(matching(E, torch.tensor([0, 0, 1]), words).item(), 6)
    0.105847

    Args:
        vectors: unit vectors, shape (B, d).
        labels: their classes, shape (B,).
        language: how alike the words of each two images are, shape (B, B).
        shift: by how much images of one class stand out.
        temperature: of both distributions.
        direction: backward or forward.
        mask: where classes are set to 1 + `shift`: both sides, or the images' alone.
        compare: rows, matrix or distance; the last has neither temperature nor direction.
        cosines: of the vectors, shape (B, B), where they are there already; a slope goes through
            them if they are part of another loss.
        same: `one_class` of the labels, where it is there already.

    Returns:
        A number, 0 or more; 0 where images of two classes are `shift` more alike than their words.

    Raises:
        Refused: shapes that do not fit, or a setting that is not known.
    """
    check_batch(vectors, labels)
    if language.shape != (len(labels), len(labels)):
        raise Refused("language", f"shape {tuple(language.shape)} for {len(labels)} images")
    if direction not in ("backward", "forward"):
        raise Refused("direction", f"{direction!r} is neither backward nor forward")
    if mask not in ("both", "image"):
        raise Refused("mask", f"{mask!r} is neither both nor image")
    same = one_class(labels, vectors.dtype) if same is None else same
    language = language.to(vectors.dtype)  # without the shift, which no distribution heeds
    if mask == "both":
        language = torch.lerp(language, same.new_ones(()), same)
    how = _How(same, 1 + shift, temperature, direction)
    divergence: torch.Tensor
    if cosines is None or not cosines.requires_grad:
        if compare == "rows":
            divergence = _OfVectors.apply(vectors, cosines, language, how)
            return divergence
        cosines = vectors @ vectors.T
    if compare == "distance":
        images = torch.lerp(cosines, same.new_full((), 1 + shift), same)
        apart: torch.Tensor = (images - language.detach() - shift).norm(dim=1)
        return apart.mean()
    if compare == "matrix":
        cosines, language, same = (of.reshape(1, -1) for of in (cosines, language, same))
        how = how._replace(same=same)
    elif compare != "rows":
        raise Refused("compare", f"{compare!r} is neither rows, matrix nor distance")
    divergence = _OfCosines.apply(cosines, language, how)
    return divergence


class _How(NamedTuple):
    """Which are of one class, what stands there, and how distributions are made and compared."""

    same: torch.Tensor
    within: float
    temperature: float
    direction: Direction


def _divergence(
    cosines: torch.Tensor, language: torch.Tensor, how: _How
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Return the mean divergence of cosines' rows, as distributions, from those of language.

    Beside it stands its slope in cosines, and by how much that is to be multiplied: worked out
    here, in half the time that taking apart each of the steps takes.
    """
    images = torch.lerp(cosines, how.same.new_full((), how.within), how.same)
    if how.temperature != 1:
        images, language = images / how.temperature, language / how.temperature
    found, wanted = log_softmax(images, dim=1), log_softmax(language, dim=1)
    shares = torch.exp(found, out=images)
    if how.direction == "backward":
        each = found.sub_(wanted).mul_(shares)
        rows = each.sum(dim=1, keepdim=True)
        slope = each.addcmul_(shares, rows, value=-1)
    else:
        aim = wanted.exp()
        rows = wanted.sub_(found).mul_(aim).sum(dim=1)
        slope = shares.sub_(aim)
    scale = how.temperature / len(cosines)
    divergence = rows.sum().mul_(how.temperature * scale)
    return divergence, slope.addcmul_(slope, how.same, value=-1), scale


class _OfCosines(torch.autograd.Function):
    """The divergence of cosines that another loss has, too."""

    @staticmethod
    def forward(ctx: Any, cosines: torch.Tensor, language: torch.Tensor, how: _How) -> torch.Tensor:
        divergence, slope, ctx.scale = _divergence(cosines, language, how)
        ctx.save_for_backward(slope)
        return divergence

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        (of_cosines,) = ctx.saved_tensors
        return of_cosines * (ctx.scale * slope), None, None


class _OfVectors(torch.autograd.Function):
    """The divergence of vectors' cosines, with one product for the slope in place of two."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: torch.Tensor,
        cosines: torch.Tensor | None,
        language: torch.Tensor,
        how: _How,
    ) -> torch.Tensor:
        cosines = vectors @ vectors.T if cosines is None else cosines
        divergence, slope, ctx.scale = _divergence(cosines, language, how)
        ctx.save_for_backward((slope + slope.T) @ vectors)
        return divergence

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> Any:
        (of_vectors,) = ctx.saved_tensors
        return of_vectors * (ctx.scale * slope), None, None, None
