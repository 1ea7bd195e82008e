"""List what is wrong with a set of retrieval templates, built here or imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from lookalike.conditional.types import Box, Defect, RetrievalTemplate, Task, View

Size = tuple[int, int]
Key = tuple[object, ...]


def find_defects(
    templates: Sequence[RetrievalTemplate],
    *,
    known_images: Container[str] | None = None,
    sizes: Mapping[str, Size] | None = None,
    split: Collection[str] | None = None,
) -> list[Defect]:
    """Return every defect of a set, in the order of the templates.

    Codes: `empty_condition`, `gallery_size`, `answer_place`, `target_is_reference`,
    `target_in_gallery`, `reference_in_gallery`, `gallery_repeats`, `same_image` (two crops of
    one image in one template), `unknown_image`, `not_in_split`, `box_empty`, `box_outside`, and
    `duplicate` for each template that has task, reference, condition and target of an earlier
    one. A template can have several defects; each image is named once.

    A composed template without a gallery of its own looks among all images of its split; without
    a list of them there is nothing to choose from (`gallery_size`).

    Whole images are the same when their ids are, crops when id and box are.

    Args:
        templates: the set; `Defect.index` is `provenance.index`, the place in the file.
        known_images: ids that exist; None where nothing is known of it.
        sizes: {image id: (width, height)} in pixels, to compare boxes with.
        split: ids of the images that templates without a gallery look among.
    """
    among = None if split is None else frozenset(split)
    known = known_images
    first_with: dict[Key, int] = {}
    found: list[Defect] = []
    for template in templates:
        index = template.provenance.index
        problems = [
            *_form(template),
            *_among(template, among),
            *_repeated_views(template),
            *_images(template, known),
            *_boxes(template, sizes or {}),
            *_duplicate(template, first_with),
        ]
        found += [Defect(index, code, reason) for code, reason in problems]
    return found


def count_defects(defects: Sequence[Defect]) -> dict[str, int]:
    """Return {code: number of defects}, the most frequent first."""
    return dict(Counter(defect.code for defect in defects).most_common())


def kept_places(n_kept: int, malformed: Collection[Defect]) -> list[int]:
    """Return the places in the file of the entries that could be read, in their order."""
    left_out = {defect.index for defect in malformed}
    return [place for place in range(n_kept + len(left_out)) if place not in left_out]


def identity(view: View) -> Key:
    """Return what makes two views the same picture."""
    return (view.image, view.box)


Problem = tuple[str, str]


def _form(template: RetrievalTemplate) -> Iterator[Problem]:
    if not template.condition.strip():
        yield "empty_condition", "the condition is empty"
    n_found, n_wanted = len(template.gallery), template.task.n_distractors
    if n_wanted is not None and n_found != n_wanted:
        reason = f"the gallery of {template.task} has {n_found} images beside the target"
        yield "gallery_size", f"{reason}, not {n_wanted}"
    if template.answer is not None and not 0 <= template.answer <= n_found:
        reason = f"the target's place {template.answer} is not in [0, {n_found}]"
        yield "answer_place", reason


def _among(template: RetrievalTemplate, split: frozenset[str] | None) -> Iterator[Problem]:
    if template.gallery or template.task is not Task.COMPOSED:
        return
    if split is None:
        reason = "there is nothing to choose from: no image set, and no list of the split's images"
        yield "gallery_size", reason
        return
    for role, view in template.views():
        if view.image not in split:
            yield "not_in_split", f"{role}: {view.image!r} is not among the split's images"


def _repeated_views(template: RetrievalTemplate) -> Iterator[Problem]:
    reference, target = identity(template.reference), identity(template.target)
    if reference == target:
        yield "target_is_reference", f"target and reference are {_named(template.target)}"
    place_of: dict[Key, int] = {}
    for place, distractor in enumerate(template.gallery):
        view, key = distractor.view, identity(distractor.view)
        if key == target:
            yield "target_in_gallery", f"gallery[{place}] is the target {_named(view)}"
        if key == reference:
            yield "reference_in_gallery", f"gallery[{place}] is the reference {_named(view)}"
        if key in place_of:
            reason = f"gallery[{place}] is gallery[{place_of[key]}], {_named(view)}"
            yield "gallery_repeats", reason
        place_of.setdefault(key, place)
    yield from _crops_of_one_image(template)


def _crops_of_one_image(template: RetrievalTemplate) -> Iterator[Problem]:
    first: dict[str, tuple[str, Key]] = {}
    for role, view in template.views():
        earlier, key = first.setdefault(view.image, (role, identity(view)))
        if key != identity(view):
            yield "same_image", f"{role} and {earlier} are two parts of image {view.image!r}"


def _images(template: RetrievalTemplate, known: Container[str] | None) -> Iterator[Problem]:
    if known is None:
        return
    named: set[str] = set()
    for role, view in template.views():
        if view.image not in known and view.image not in named:
            named.add(view.image)
            yield "unknown_image", f"{role}: no image {view.image!r}"


def _boxes(template: RetrievalTemplate, sizes: Mapping[str, Size]) -> Iterator[Problem]:
    for role, view in template.views():
        if view.box is None:
            continue
        shown = f"{role}: the box {_numbers(view.box)} of image {view.image!r}"
        if not (view.box.width > 0 and view.box.height > 0):
            yield "box_empty", f"{shown} has no area"
        elif not _inside(view.box, sizes.get(view.image)):
            size = sizes.get(view.image)
            extent = "the image" if size is None else f"the {size[0]} x {size[1]} image"
            yield "box_outside", f"{shown} is not inside {extent}"


def _inside(box: Box, size: Size | None) -> bool:
    if box.left < 0 or box.top < 0:
        return False
    return size is None or (box.left + box.width <= size[0] and box.top + box.height <= size[1])


def _duplicate(template: RetrievalTemplate, first_with: dict[Key, int]) -> Iterator[Problem]:
    reference, target = identity(template.reference), identity(template.target)
    key = (template.task, template.condition, reference, target)
    earlier = first_with.setdefault(key, template.provenance.index)
    if earlier != template.provenance.index:
        yield "duplicate", f"it has reference, condition and target of template {earlier}"


def _named(view: View) -> str:
    box = "" if view.box is None else f" {_numbers(view.box)}"
    return f"{view.image!r}{box}"


def _numbers(box: Box) -> list[float]:
    return [round(number, 2) for number in box]
