"""All answers that stand in a campaign, as arrays: what is said of its judges comes from one read.

Control questions are among them, and answers that do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import VOTES, Answer, Campaign, Mode, QuestionKind
from annotation.models.choices import NO_VOTES, PICK
from annotation.queries.prepared import columns_of
from lookalike.agreement.grades import MOST_GRADES
from lookalike.core.arrays import Bools, Ints

FIRST_PICK = 1000  # numbers of picks begin here, behind those of all words
UNKNOWN = np.iinfo(np.int64).min
TABLE = """
select j.member_id, j.question_id, q.query_id, array_position(%s::text[], q.kind::text) - 1,
       case when j.answer ^@ 'pick:' then %s + substr(j.answer, 6)::int
            else array_position(%s::text[], j.answer::text) - 1 end,
       j.is_counted, j.is_excluded, j.event_id, array_position(%s::text[], v.mode::text) - 1,
       v.visible_ms, v.load_ms, v.decided_at, coalesce(v.shown_at, '-infinity')
from annotation_judgement j
join annotation_judgementevent v on v.id = j.event_id
join annotation_question q on q.id = j.question_id
where q.campaign_id = %s
"""
KINDS = {
    "member": ">i8", "question": ">i8", "query": ">i8", "kind": ">i4", "answer": ">i4",
    "is_counted": "?", "is_excluded": "?", "event": ">i8", "mode": ">i4", "visible_ms": ">i4",
    "load_ms": ">i4", "decided_us": ">M8[us]", "shown_us": ">M8[us]",
}  # fmt: skip


@dataclass(frozen=True)
class AnswerTable:
    """The answers that stand, by judge in the order in which they were decided.

    Attributes:
        member: shape (n,), ids of panel members.
        question: shape (n,), ids of questions.
        query: shape (n,), ids of the questions' query images.
        kind: shape (n,), place among `QuestionKind.values`.
        answer: shape (n,), the place among `codes`, or `FIRST_PICK` and the place picked.
        is_counted: shape (n,), whether the answer counts.
        is_excluded: shape (n,), whether an admin has excluded it.
        event: shape (n,), ids of the events.
        mode: shape (n,), place among `Mode.values`.
        visible_ms: shape (n,), time on screen.
        load_ms: shape (n,), time until the images were there.
        decided_us: shape (n,), since 2000.
        shown_us: shape (n,), since 2000; `UNKNOWN` where nobody said.
        codes: of all answers that are no picks, “similar” and “different” first.
    """

    member: Ints
    question: Ints
    query: Ints
    kind: Ints
    answer: Ints
    is_counted: Bools
    is_excluded: Bools
    event: Ints
    mode: Ints
    visible_ms: Ints
    load_ms: Ints
    decided_us: Ints
    shown_us: Ints
    codes: tuple[str, ...]

    def __getitem__(self, chosen: Bools) -> AnswerTable:
        """Return some of the answers."""
        columns = {name: getattr(self, name)[chosen] for name in KINDS}
        return AnswerTable(**columns, codes=self.codes)

    @property
    def side(self) -> Ints:
        """The answers without their grades, so that equal numbers are answers of one side."""
        bare = [code.partition(":")[0] for code in self.codes]
        sides = np.array([self.codes.index(code) for code in bare], np.int64)
        is_word = self.answer < FIRST_PICK
        return np.where(is_word, sides[np.where(is_word, self.answer, 0)], self.answer)

    @property
    def is_similar(self) -> Bools:
        """Whether the answer counts as similar."""
        return self._side_is(VOTES[0])

    @property
    def is_similar_or_different(self) -> Bools:
        """Whether the answer is one of the two sides of a pair."""
        return self._side_is(*VOTES)

    @property
    def is_final(self) -> Bools:
        """Whether the judge could tell."""
        return ~self._side_is(*NO_VOTES)

    def _side_is(self, *answers: Answer) -> Bools:
        return np.isin(self.side, [self.codes.index(answer) for answer in answers])

    def of_kind(self, *kinds: QuestionKind) -> Bools:
        """Return which answers are to questions of some kinds."""
        return np.isin(self.kind, [QuestionKind.values.index(kind) for kind in kinds])

    def in_mode(self, mode: Mode) -> Bools:
        """Return which answers were given in a mode."""
        return np.equal(self.mode, Mode.values.index(mode))

    def code(self, number: int) -> str:
        """Return the answer that a number stands for."""
        is_word = number < FIRST_PICK
        return self.codes[number] if is_word else f"{PICK}{number - FIRST_PICK}"


def read_answer_table(campaign: Campaign) -> AnswerTable:
    """Return every answer that stands in a campaign."""
    graded = [f"{vote.value}:{grade}" for vote in VOTES for grade in range(MOST_GRADES)]
    words = map(str, [*VOTES, *NO_VOTES, *graded, *campaign.kind.answers])
    codes = list(dict.fromkeys(words))
    columns = columns_of(
        TABLE, KINDS, QuestionKind.values, FIRST_PICK, codes, Mode.values, campaign.pk
    )
    order = np.lexsort((columns["event"], columns["decided_us"], columns["member"]))
    return AnswerTable(**{name: columns[name][order] for name in KINDS}, codes=tuple(codes))
