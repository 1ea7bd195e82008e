import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { QuestionQueue } from "../../static/js/judge/queue.js";
import { STRIP_N, Session } from "../../static/js/judge/session.js";
import { question } from "./questions.js";

let queue;
let outbox;
let session;
let clock;

const ACT = { reason: "", mode: "pair", device: "keyboard", shownAt: 0, visibleMs: 900.4, loadMs: 0 };
const act = (answer, more = {}) => ({ ...ACT, answer, shownAt: clock - 1000, ...more });

beforeEach(() => {
  clock = Date.UTC(2026, 0, 1);
  queue = new QuestionQueue();
  queue.push(Array.from({ length: 30 }, (_, i) => question(i + 1)));
  outbox = {
    sent: [],
    parked: [],
    waiting: [],
    discarded: [],
    add(body, shown) {
      this.sent.push(body);
      this.waiting.push({ uuid: body.uuid, body, shown });
    },
    discard(uuid) {
      this.discarded.push(uuid);
    },
  };
  let n = 0;
  session = new Session({
    queue,
    outbox,
    progress: { n_done: 5, n_total: 35 },
    guidelineVersion: 3,
    now: () => clock,
    newUuid: () => `uuid-${(n += 1)}`,
  });
});

test("an answer has the body of the contract", () => {
  session.answer(queue.head, act("skip", { reason: "bad_image", mode: "sheet", device: "touch" }));
  assert.deepEqual(outbox.sent, [
    {
      uuid: "uuid-1",
      question: "u1",
      answer: "skip",
      reason: "bad_image",
      mode: "sheet",
      device: "touch",
      guideline_version: 3,
      shown_at: "2025-12-31T23:59:59.000Z",
      decided_at: "2026-01-01T00:00:00.000Z",
      visible_ms: 900,
      load_ms: 0,
      undoes: null,
    },
  ]);
});

test("an answer moves on at once and is counted", () => {
  session.answer(queue.head, act("similar"));
  assert.equal(queue.head.uid, "u2");
  assert.equal(session.progress.n_done, 6);
});

test("undo goes back without limit, newest first, and each undo names what it undoes", () => {
  for (let i = 0; i < 25; i += 1) session.answer(queue.head, act("different"));
  for (let i = 25; i >= 1; i -= 1) {
    const last = session.history.at(-1).uuid;
    assert.equal(session.undo(ACT).uid, `u${i}`);
    assert.deepEqual(
      [outbox.sent.at(-1).answer, outbox.sent.at(-1).undoes, outbox.sent.at(-1).question],
      ["withdrawn", last, `u${i}`],
    );
    assert.equal(queue.head.uid, `u${i}`);
  }
  assert.equal(session.progress.n_done, 5);
  assert.equal(session.undo(ACT), null);
});

test("later is an answer of its own: not counted as done, and it can be taken back", () => {
  session.answer(queue.head, act("later"));
  assert.equal(session.progress.n_done, 5);
  assert.equal(queue.isAnswered("u1"), false);
  session.undo(ACT);
  assert.equal(session.progress.n_done, 5);
  assert.equal(queue.head.uid, "u1");
});

test("an older answer is taken back alone", () => {
  const uuids = ["similar", "different", "cant_tell"].map((answer) => session.answer(queue.head, act(answer)));
  session.takeBack(uuids[1], ACT);
  assert.deepEqual(session.history.map(({ answer }) => answer), ["similar", "cant_tell"]);
  assert.equal(queue.head.uid, "u2");
  assert.equal(session.takeBack(uuids[1], ACT), null);
});

test("answering the same question again replaces the answer and is not counted twice", () => {
  const first = queue.head;
  session.answer(first, act("similar"));
  session.answer(first, act("different"));
  assert.equal(session.progress.n_done, 6);
  assert.deepEqual(session.history.map(({ answer }) => answer), ["different"]);
});

test("taking back an answer that the server refused only lets go of it", () => {
  const uuid = session.answer(queue.head, act("similar"));
  outbox.parked = [{ uuid }];
  session.undo(ACT);
  assert.deepEqual(outbox.discarded, [uuid]);
  assert.equal(outbox.sent.length, 1);
  assert.equal(queue.head.uid, "u1");
});

test("the strip shows the last twenty, the newest first", () => {
  for (let i = 0; i < 25; i += 1) session.answer(queue.head, act("similar"));
  assert.equal(session.strip.length, STRIP_N);
  assert.equal(session.strip[0].question.uid, "u25");
});

test("answers of an earlier page can be undone, and come before those of this page", () => {
  session.answer(queue.head, act("similar"));
  const earlier = (position, is_current) => ({
    uuid: `old-${position}`,
    question: question(position),
    answer: "different",
    reason: "",
    is_current,
  });
  session.remember([earlier(103, true), earlier(102, false), earlier(101, true)]); // newest first
  assert.deepEqual(session.history.map(({ question: { uid } }) => uid), ["u101", "u103", "u1"]);
  session.undo(ACT);
  session.undo(ACT);
  assert.equal(outbox.sent.at(-1).undoes, "old-103");
});

test("an answer whose withdrawal has not arrived yet does not come back", () => {
  outbox.waiting.push({ uuid: "w", body: { uuid: "w", question: "u101", answer: "withdrawn", undoes: "old" } });
  const entry = { uuid: "old", question: question(101), answer: "similar", reason: "", is_current: true };
  session.remember([entry]);
  assert.deepEqual(session.history, []);
});

test("what an earlier page could not send is not asked again, and is counted", () => {
  const body = { uuid: "old", question: "u1", answer: "similar", reason: "", undoes: null };
  session.resume([{ body, shown: { question: question(1), before: null } }]);
  assert.equal(queue.head.uid, "u2");
  assert.equal(session.progress.n_done, 6);
  assert.equal(session.undo(ACT).uid, "u1");
});

test("what another tab answers is not asked here", () => {
  const body = { uuid: "x", question: "u1", answer: "similar" };
  assert.deepEqual(session.follow([body]), [body]);
  assert.equal(queue.head.uid, "u2");
  assert.deepEqual(session.follow([body]), [], "heard before");
  assert.equal(session.history.length, 0, "it is not ours to undo");
});

test("the server's count is taken over once it knows everything", () => {
  session.answer(queue.head, act("similar"));
  session.countedByServer({ n_done: 5, n_total: 35 });
  assert.equal(session.progress.n_done, 6);
  outbox.waiting = [];
  session.countedByServer({ n_done: 7, n_total: 36 });
  assert.deepEqual(session.progress, { n_done: 7, n_total: 36 });
});

test("a clock that was shown later than now gives no negative times", () => {
  session.answer(queue.head, act("similar", { shownAt: clock + 5000, visibleMs: -3, loadMs: -1 }));
  const [body] = outbox.sent;
  assert.ok(body.shown_at <= body.decided_at);
  assert.deepEqual([body.visible_ms, body.load_ms], [0, 0]);
});

test("a comment goes the way of answers, counts nothing, and is taken back", () => {
  const before = { ...session.progress };
  const uuid = session.comment(queue.head, "A hood?");
  session.withdrawComment(queue.head, uuid);
  assert.deepEqual(
    outbox.sent.map(({ comment, withdraws }) => [comment, withdraws]),
    [["A hood?", null], ["", uuid]],
  );
  assert.deepEqual(session.progress, before);
  assert.equal(session.undo(act("withdrawn")), null);
  assert.deepEqual(session.follow(outbox.sent), []);
});

test("comments that an earlier page has left answer nothing", () => {
  session.resume([{ body: { uuid: "c", question: "u1", comment: "", withdraws: null }, shown: { question: question(1) } }]);
  assert.equal(queue.has("u1"), true);
  assert.deepEqual(session.history, []);
});

const old = (position) => ({
  uuid: `old-${position}`,
  question: question(position),
  answer: "different",
  reason: "",
  is_current: true,
});

test("an answer taken back while earlier ones are read does not come back with them", () => {
  session.remember([old(101)]);
  session.undo(ACT);
  outbox.waiting = []; // sent, but the server has looked before
  session.remember([old(101), old(100)]);
  assert.deepEqual(session.history.map(({ uuid }) => uuid), ["old-100"]);
});

test("what another tab has taken back or answered anew is not undone here", () => {
  session.remember([old(103), old(102), old(101)]);
  session.follow([
    { uuid: "x", question: "u103", answer: "withdrawn", undoes: "old-103" },
    { uuid: "y", question: "u102", answer: "similar", undoes: null },
  ]);
  assert.equal(session.undo(ACT).uid, "u101");
  assert.equal(session.undo(ACT), null);
  session.remember([old(103), old(102)]); // as the server stood before
  assert.equal(session.undo(ACT), null);
});

test("taking back what the server refused leaves the server's count as it is", () => {
  const uuid = session.answer(queue.head, act("similar"));
  outbox.waiting = [];
  outbox.parked = [{ uuid }];
  session.countedByServer({ n_done: 5, n_total: 35 });
  session.undo(ACT);
  assert.equal(session.progress.n_done, 5);
});
