"""Terms of the field that pages explain where they first stand; docs/glossary.md has them all."""

from __future__ import annotations

TERMS = {
    "pool": "All pairs that several models propose for the same queries.",
    "depth": "How many candidates each model proposes for a query (k).",
    "seed": "A number that fixes every random choice: the same seed draws the same.",
    "gold": "Pairs whose right answer is known beforehand, to train judges and to check them.",
    "control": (
        "A question that checks the judge: gold, or a pair asked again. It never counts as a vote."
    ),
    "k of n": "Each pair is judged by k of the n judges on the panel, whoever comes first.",
    "pooled": "Said of a model that proposed candidates for the pool.",
    "sibling": "Said of a model that did not propose, but shares a family with one that did.",
    "outsider": (
        "Said of a model that neither proposed for the pool nor shares a family with one that "
        "did: some of its candidates were never judged."
    ),
}
