"""Small templates, instances and scenes that the tests share."""

import numpy as np

from lookalike.conditional.types import (
    Box,
    Distractor,
    Instance,
    Provenance,
    RetrievalTemplate,
    Scene,
    Task,
    View,
)


def template(index=0, task=Task.FOCUS_OBJECT, **changes):
    """Return a template without defects: reference r, target t, gallery g0 to g13."""
    n_distractors = task.n_distractors or 5
    fields = {
        "task": task,
        "condition": "chair",
        "reference": View("r"),
        "target": View("t"),
        "gallery": tuple(Distractor(View(f"g{place}")) for place in range(n_distractors)),
        "provenance": Provenance("test", index),
    }
    return RetrievalTemplate(**{**fields, **changes})


def gallery(*names):
    """Return distractors that show whole images."""
    return tuple(Distractor(View(name)) for name in names)


TYPES = {
    "color": ["red", "green", "blue", "olive green"],
    "material": ["wood", "metal", "plastic"],
    "light": ["bright", "red"],  # a value may sit in two types
}


def vaw_instances(seed, n=900):
    """Return generated instances with boxes, several to an image, and unlabelled values."""
    rng = np.random.default_rng(seed)
    values = sorted({value for found in TYPES.values() for value in found})
    instances = []
    for number in range(n):
        labels = rng.choice([1, -1, 0], len(values), p=[0.25, 0.45, 0.3])
        left, top = rng.integers(0, 300, 2).tolist()
        instances.append(
            Instance(
                image=str(2000 + number // 3),
                name=str(number),
                object_name=str(rng.choice(["chair", "table", "bus"])),
                positive=frozenset(v for v, one in zip(values, labels, strict=True) if one == 1),
                negative=frozenset(v for v, one in zip(values, labels, strict=True) if one == -1),
                box=Box(left, top, 40, 30.5),
            )
        )
    return instances


def random_scenes(seed, n=600, n_categories=16):
    """Return generated scenes, some categories below 1% of the pixels."""
    rng = np.random.default_rng(seed)
    odds = np.linspace(0.2, 0.85, n_categories)
    return [
        Scene(
            f"{number:04d}",
            {
                f"c{c:02d}": float(rng.choice([0.005, 0.01, 0.02, 0.05]))
                for c in np.flatnonzero(rng.random(n_categories) < odds).tolist()
            },
        )
        for number in range(n)
    ]


def object_entry(**changes):
    entry = {
        "condition": "wall",
        "gallery": [{"val_image_id": 100 + place} for place in range(14)],
        "reference": {"val_image_id": 1},
        "target": {"val_image_id": 2},
    }
    return {**entry, **changes}


def cirr_entry(**changes):
    entry = {
        "pairid": 12060,
        "reference": "dev-244-0-img0",
        "target_hard": "dev-244-0-img1",
        "target_soft": {"dev-244-0-img1": 1.0},
        "caption": "show three bottles of soft drink",
        "img_set": {
            "id": 148,
            "members": [f"dev-244-0-img{n}" for n in (3, 0, 2, 1, 5, 4)],
            "reference_rank": 3,
        },
    }
    return {**entry, **changes}
