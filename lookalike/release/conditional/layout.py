"""The tables of a release that holds verified templates, or triplets."""

from __future__ import annotations

from lookalike.release.format.columns import Column, Table

_SET = Column("set", "text", "Slug of the set, as in release.json.")
_PLACE = Column("position", "int32", "Place in the set, from 0.")
_BOX = Column(
    "box", "text", "The part that is shown: [left, top, width, height] in pixels; empty for all."
)

TEMPLATE_TABLES = {
    table.name: table
    for table in (
        Table("templates", "A retrieval template that was put to a panel.", ("set", "position"), (
            _SET, _PLACE,
            Column("task", "text", "focus_attribute, change_attribute, focus_object, "
                   "change_object or composed."),
            Column("condition", "text", "What judges and models read."),
            Column("reference_id", "text", "The image that candidates are compared with, an "
                   "`image_id` of images."),
            _BOX,
        )),
        Table("template_candidates", "An image to choose from: the distractors of a template in "
              "their order, then its target.", ("set", "position", "place"), (
            _SET, _PLACE,
            Column("place", "int32", "Among the candidates, from 0; judges saw other orders."),
            Column("image_id", "text", "The candidate, an `image_id` of images."),
            Column("kind", "text", "target; or of a distractor: lacks_condition, lacks_reference "
                   "or unknown."),
            _BOX,
        )),
        Table("template_votes", "What one judge says of a template.",
              ("set", "position", "annotator"), (
            _SET, _PLACE,
            Column("annotator", "text", "The judge, named as in judgements."),
            Column("choice", "text", "pick, none, several or bad_condition."),
            Column("place", "int32", "The candidate that was picked; null without a pick."),
        )),
        Table("template_rulings", "An admin’s ruling on a template that the panel left open.",
              ("set", "position"), (
            _SET, _PLACE,
            Column("passes", "bool", "Whether it is verified."),
        )),
        Table("template_verdicts", "What becomes of a template.", ("set", "position"), (
            _SET, _PLACE,
            Column("n_votes", "int32", "Answers."),
            Column("outcome", "text", "By the panel: passes, fails, adjudicate (no majority) or "
                   "waiting."),
            Column("is_unique", "bool", "Whether more than half named one image, be it the "
                   "target or not."),
            Column("is_verified", "bool", "Whether it passes, by the panel or a ruling; null "
                   "where neither says."),
        ), is_primary=False),
    )
}  # fmt: skip

TRIPLET_TABLES = {
    table.name: table
    for table in (
        Table("triplets", "One answer to a triplet: to the anchor, `closer_id` is more similar "
              "than `farther_id`.", ("set", "position"), (
            _SET, _PLACE,
            Column("anchor_id", "text", "The anchor, an `image_id` of images."),
            Column("closer_id", "text", "The candidate said to be closer, likewise."),
            Column("farther_id", "text", "The other candidate, likewise."),
            Column("condition", "text", "Under which it was asked; empty without one."),
            Column("annotator", "text", "Who answered, under a name of this release and set "
                   "alone, w01, w02 …; empty where the set does not say."),
        )),
        Table("triplet_labels", "A triplet with the answers to it; `closer_id` has the majority.",
              ("set", "anchor_id", "closer_id", "farther_id", "condition"), (
            _SET,
            Column("anchor_id", "text", "The anchor."),
            Column("closer_id", "text", "The candidate with more votes; of a tie, the first by "
                   "name."),
            Column("farther_id", "text", "The other candidate."),
            Column("condition", "text", "Empty without one."),
            Column("n_votes", "int32", "Answers."),
            Column("n_closer", "int32", "Of these, for `closer_id`."),
            Column("is_decided", "bool", "Whether it has more than half of them."),
        ), is_primary=False),
    )
}  # fmt: skip
