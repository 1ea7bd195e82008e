import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.answering.register import Outcome, Register, StoredEvent, change_of_done, fold
from annotation.answering.submissions import RejectedError, Submission

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
QUESTION = uuid.uuid4()
ME = 7


def fresh(question_id: int = 1, place: int = 1) -> Register:
    return Register(question_id, place, False, "", None, None)


def answer(what: str, seconds: float = 0, **changes: object) -> Submission:
    moment = NOW - timedelta(hours=1) + timedelta(seconds=seconds)
    fields = {
        "uuid": uuid.uuid4(),
        "question": QUESTION,
        "answer": what,
        "reason": "unsure" if what == "skip" else "",
        "mode": "pair",
        "device": "keyboard",
        "guideline_version": 1,
        "shown_at": moment,
        "decided_at": moment,
        "visible_ms": 1,
        "load_ms": 0,
        "undoes": None,
    }
    return Submission(**(fields | changes))  # type: ignore[arg-type]


def take(*submissions: Submission | RejectedError, **changes: object) -> Outcome:
    setting = {
        "served": {QUESTION: fresh()},
        "stored": {},
        "member_id": ME,
        "last_place": 10,
        "guideline_version": 2,
        "closed": None,
        "now": NOW,
    } | changes
    return fold(list(submissions), **setting)  # type: ignore[arg-type]


def codes(outcome: Outcome) -> list[str]:
    return [r.code if isinstance(r, RejectedError) else r for r in outcome.results]


def test_an_answer_is_saved_and_done():
    outcome = take(answer("similar"))
    assert codes(outcome) == ["saved"]
    assert outcome.registers[1].is_done
    assert outcome.registers[1].answer == "similar"
    assert change_of_done([fresh()], outcome) == 1


def test_the_same_uuid_twice_is_one_answer():
    once = answer("similar")
    outcome = take(once, once)
    assert codes(outcome) == ["saved", "duplicate"]
    assert len(outcome.events) == 1


def test_a_known_uuid_is_a_duplicate_only_if_it_says_the_same():
    once = answer("similar")
    same = {once.uuid: StoredEvent(ME, 1, "similar", None)}
    assert codes(take(once, stored=same)) == ["duplicate"]
    for other in (
        StoredEvent(8, 1, "similar", None),
        StoredEvent(ME, 2, "similar", None),
        StoredEvent(ME, 1, "different", None),
    ):
        outcome = take(once, stored={once.uuid: other})
        assert codes(outcome) == ["uuid_reused"]
        assert not outcome.events


def test_a_duplicate_is_told_even_when_the_campaign_is_closed():
    once = answer("similar")
    closed = RejectedError("closed", "closed")
    stored = {once.uuid: StoredEvent(ME, 1, "similar", None)}
    outcome = take(once, answer("different"), stored=stored, closed=closed)
    assert codes(outcome) == ["duplicate", "closed"]


def test_what_was_never_served_is_rejected():
    assert codes(take(answer("similar", question=uuid.uuid4()))) == ["not_served"]


def test_guidelines_that_do_not_exist_are_rejected():
    assert codes(take(answer("similar", guideline_version=3))) == ["bad_value"]


def test_a_changed_mind_counts_by_whatever_clock():
    outcome = take(answer("similar", 1), answer("different", 5), answer("similar", 3))
    assert codes(outcome) == ["saved"] * 3
    assert len(outcome.events) == 3
    assert outcome.registers[1].answer == "similar"
    assert change_of_done([fresh()], outcome) == 1


def test_taking_back_opens_the_question_again():
    first = answer("similar", 1)
    outcome = take(first, answer("withdrawn", 2, undoes=first.uuid))
    assert codes(outcome) == ["saved", "saved"]
    assert not outcome.registers[1].is_done
    assert outcome.registers[1].place == 1
    assert change_of_done([fresh()], outcome) == 0


def test_only_the_answer_that_holds_can_be_taken_back():
    first, second = answer("similar", 1), answer("different", 2)
    undo = answer("withdrawn", 4, undoes=second.uuid)
    outcome = take(
        first,
        second,
        answer("withdrawn", 3, undoes=first.uuid),
        undo,
        answer("withdrawn", 5, undoes=second.uuid),
        answer("withdrawn", 6, undoes=undo.uuid),
        answer("withdrawn", 7, undoes=uuid.uuid4()),
    )
    assert codes(outcome) == ["saved"] * 2 + ["not_current", "saved"] + ["not_current"] * 3


def test_an_undo_from_a_slow_clock_still_takes_back():
    first = answer("similar", 100)
    outcome = take(first, answer("withdrawn", 1, undoes=first.uuid))
    assert not outcome.registers[1].is_done


def test_an_answer_from_a_slow_clock_holds_after_a_taking_back():
    first = answer("similar", 1000)
    outcome = take(first, answer("withdrawn", 100, undoes=first.uuid), answer("different", 110))
    assert codes(outcome) == ["saved"] * 3
    assert outcome.registers[1].answer == "different"
    assert outcome.registers[1].is_done


def test_later_goes_to_the_end_of_the_queue_and_is_not_done():
    outcome = take(answer("later", 1))
    assert outcome.registers[1].place == outcome.last_place == 11
    assert not outcome.registers[1].is_done
    again = take(answer("similar", 2), served={QUESTION: outcome.registers[1]})
    assert again.registers[1].is_done


def test_a_clock_that_runs_ahead_is_set_back():
    ahead = answer("similar", 3600 * 24, shown_at=NOW + timedelta(hours=20))
    [(event, _)] = take(ahead).events
    assert event.decided_at == event.shown_at == NOW


def test_a_rejected_answer_passes_through_in_its_place():
    bad = RejectedError("bad_value", "x")
    assert codes(take(bad, answer("similar"), bad)) == ["bad_value", "saved", "bad_value"]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["similar", "different", "cant_tell", "skip"]), min_size=1), st.data()
)
def test_what_arrived_last_holds_whatever_the_clocks_say(answers, data):
    events = [answer(what, seconds) for seconds, what in enumerate(answers)]
    arrived = data.draw(st.permutations(events))
    outcome = take(*arrived)
    assert outcome.registers[1].answer == arrived[-1].answer
    assert len(outcome.events) == len(answers)
