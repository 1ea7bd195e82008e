"""Options for reading votes, and notes on answers that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lookalike.io.repeats import Repeats


@dataclass(frozen=True)
class VoteOptions:
    """How to read votes, labels that are made of votes, and triplets.

    Attributes:
        repeats: which answer counts where one worker answers one question twice; None: as the
            reader's documentation says (votes: an error; triplets: every answer counts).
        control: of Label Studio: the control with the answers; "": the only one that fits.
        config: of Label Studio: the project's labelling configuration (XML), which links
            controls to images.
        keys: of Label Studio: {role: key of the tasks' data}, such as {"query": "image1"}.
        notes: receives a sentence for each kind of answer that was left out.
    """

    repeats: Repeats | None = None
    control: str = ""
    config: Path | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
