"""MIT-States (Isola et al., CVPR 2015): a folder `adjective noun` of pictures for each pair."""

from __future__ import annotations

from pathlib import PurePosixPath

from lookalike.images.layouts.layout import Layout, Listing
from lookalike.images.sources import Source

# 30,338 + 10,420 + 12,995 images of the splits of Purushwalkam et al. (ICCV 2019), over 115 states
# and 245 nouns. They leave out the folders "adj noun", so their count is of images in a state.
PUBLISHED = {"images in a state": 53_753, "states": 115, "classes": 245}
NO_STATE = "adj"  # the folder "adj noun" holds pictures of a noun in no state


def read_mit_states(source: Source) -> Layout:
    """Return MIT-States: `class` is the noun, `state` the adjective; it has no lists."""
    listing = Listing("MIT-States", "the folder images", PUBLISHED)
    for path in source.paths:
        folder = PurePosixPath(path).parent.name
        state, _, noun = folder.partition(" ")
        if noun and PurePosixPath(path).parent.parent.name in {"images", ""}:
            known = {"class": noun, "state": "" if state == NO_STATE else state}
            listing.add(path, "", known, 0)
    states = [known["state"] for _, known, _ in listing.entries.values() if "state" in known]
    listing.further_counts = {"images in a state": len(states), "states": len(set(states))}
    return listing.found_in(source)
