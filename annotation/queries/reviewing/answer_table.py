"""All answers that stand in campaigns, as arrays: what is said of its judges comes from one read.

Control questions are among them, and answers that do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import VOTES, Answer, Campaign, Mode, QuestionKind
from annotation.models.choices import NO_VOTES, PICK
from annotation.queries.prepared import columns_of
from lookalike.agreement.grades import MOST_GRADES
from lookalike.core.arrays import Bools, Ints

FIRST_PICK = 1000  # numbers of picks begin here, behind those of all words
UNKNOWN = np.iinfo(np.int64).min
# Three plain reads: the database joins so many rows in twice the time that it takes here.
ANSWERS = """
select j.member_id, j.question_id,
       case j.answer when 'similar' then 0 when 'different' then 1 else  -- nearly all are
            case when j.answer ^@ 'pick:' then %s + substr(j.answer, 6)::int
                 else array_position(%s::text[], j.answer::text) - 1 end end,
       j.is_counted, j.is_excluded, j.event_id
from annotation_judgement j where j.member_id = any(%s::bigint[])
"""
EVENTS = """
select v.id, array_position(%s::text[], v.mode::text) - 1, v.visible_ms, v.load_ms, v.decided_at,
       coalesce(v.shown_at, '-infinity')
from annotation_judgementevent v where v.member_id = any(%s::bigint[])
"""
QUESTIONS = """
select q.id, q.query_id, array_position(%s::text[], q.kind::text) - 1
from annotation_question q where q.campaign_id = any(%s::bigint[])
"""
ANSWER = {
    "member": ">i8", "question": ">i8", "answer": ">i4", "is_counted": "?", "is_excluded": "?",
    "event": ">i8",
}  # fmt: skip
EVENT = {
    "id": ">i8", "mode": ">i4", "visible_ms": ">i4", "load_ms": ">i4", "decided_us": ">M8[us]",
    "shown_us": ">M8[us]",
}  # fmt: skip
QUESTION = {"id": ">i8", "query": ">i8", "kind": ">i4"}
Columns = dict[str, NDArray[Any]]


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

    def __getitem__(self, chosen: Bools | slice) -> AnswerTable:
        """Return some of the answers; those of a slice are not copied."""
        columns = {one.name: getattr(self, one.name) for one in fields(self)}
        codes = columns.pop("codes")
        return AnswerTable(**{name: one[chosen] for name, one in columns.items()}, codes=codes)

    def of_judge(self, member_id: int) -> AnswerTable:
        """Return one judge's answers, which stand together."""
        return self[slice(*np.searchsorted(self.member, [member_id, member_id + 1]))]

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
        wanted = [code.partition(":")[0] in answers for code in self.codes]
        is_wanted: Bools = np.array([*wanted, False])[np.minimum(self.answer, len(self.codes))]
        return is_wanted  # no pick is; looking up takes a tenth of np.isin

    def of_kind(self, *kinds: QuestionKind) -> Bools:
        """Return which answers are to questions of some kinds."""
        is_wanted: Bools = np.isin(QuestionKind.values, kinds)[self.kind]
        return is_wanted

    def in_mode(self, mode: Mode) -> Bools:
        """Return which answers were given in a mode."""
        return np.equal(self.mode, Mode.values.index(mode))

    def code(self, number: int) -> str:
        """Return the answer that a number stands for."""
        is_word = number < FIRST_PICK
        return self.codes[number] if is_word else f"{PICK}{number - FIRST_PICK}"


def read_answer_table(campaigns: Sequence[Campaign], member_ids: Sequence[int]) -> AnswerTable:
    """Return every answer that stands in campaigns, whose judges are these."""
    graded = [f"{vote.value}:{grade}" for vote in VOTES for grade in range(MOST_GRADES)]
    own = [answer for campaign in campaigns for answer in campaign.kind.answers]
    codes = list(dict.fromkeys(map(str, [*VOTES, *NO_VOTES, *graded, *own])))
    members, ids = list(member_ids), [campaign.pk for campaign in campaigns]
    answers = columns_of(ANSWERS, ANSWER, FIRST_PICK, codes, members)
    events = columns_of(EVENTS, EVENT, Mode.values, members)
    questions = columns_of(QUESTIONS, QUESTION, QuestionKind.values, ids)
    columns = answers | _of(events, answers["event"]) | _of(questions, answers["question"])
    order = np.lexsort((columns["event"], columns["decided_us"], columns["member"]))
    in_order = {name: column[order] for name, column in columns.items()}
    return AnswerTable(**in_order, codes=tuple(codes))


def _of(table: Columns, ids: Ints) -> Columns:
    """Return the rows of some ids, each of which is in the table."""
    by_id = np.argsort(table["id"])
    at = by_id[np.searchsorted(table["id"], ids, sorter=by_id)]
    return {name: column[at] for name, column in table.items() if name != "id"}
