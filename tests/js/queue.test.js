import assert from "node:assert/strict";
import { test } from "node:test";

import { ASK_N, QuestionQueue } from "../../static/js/judge/queue.js";
import { question } from "./questions.js";

function filled(n, query) {
  const queue = new QuestionQueue();
  queue.push(Array.from({ length: n }, (_, i) => question(i + 1, query)));
  return queue;
}

const uids = (questions) => questions.map(({ uid }) => uid);

test("questions are asked in the server's order, and fetched from behind the last", () => {
  const queue = filled(3);
  assert.deepEqual(uids(queue.ahead(9)), ["u1", "u2", "u3"]);
  assert.equal(queue.after, 3);
});

test("what waits already and what has been answered is not taken in again", () => {
  const queue = filled(3);
  queue.remove("u1");
  assert.equal(queue.push([question(1), question(2), question(4)]), 1);
  assert.deepEqual(uids(queue.ahead(9)), ["u2", "u3", "u4"]);
});

test("what was put off may come again", () => {
  const queue = filled(2);
  queue.remove("u1", { isFinal: false });
  assert.equal(queue.push([{ ...question(1), position: 9 }]), 1);
  assert.deepEqual(uids(queue.ahead(9)), ["u2", "u1"]);
  assert.equal(queue.after, 9);
});

test("an answer taken back puts its question to the front, once", () => {
  const queue = filled(3);
  const first = queue.head;
  queue.remove("u1");
  queue.putBack(first);
  queue.putBack(first);
  assert.deepEqual(uids(queue.ahead(9)), ["u1", "u2", "u3"]);
  assert.equal(queue.isAnswered("u1"), false);
});

test("a sheet holds the questions in front that share a query", () => {
  const queue = new QuestionQueue();
  queue.push([question(1, "a"), question(2, "a"), question(3, "b"), question(4, "a")]);
  assert.deepEqual(uids(queue.group()), ["u1", "u2"]);
  assert.deepEqual(uids(queue.groupAfter()), ["u3"]);
  assert.equal(queue.isGroupOpen, false);
  assert.equal(filled(5).isGroupOpen, true);
  assert.equal(filled(60).group().length, 48);
});

test("an empty queue has no head, no group, and wants more", () => {
  const queue = new QuestionQueue();
  assert.equal(queue.head, null);
  assert.deepEqual(queue.group(), []);
  assert.equal(queue.isLow, true);
});

test("a queue that was cleared is filled from the start, without what has been answered", () => {
  const queue = new QuestionQueue();
  queue.push([question(1), question(2), question(3)]);
  queue.remove("u1");
  queue.clear();
  assert.equal(queue.head, null);
  assert.equal(queue.after, 0);
  assert.equal(queue.push([question(1), question(2)]), 1);
  assert.equal(queue.head.uid, "u2");
});

test("a full reply is topped up early, a short one when half of it is used", () => {
  const full = filled(ASK_N);
  assert.equal(full.isLow, false);
  for (let i = 1; i <= 6; i += 1) full.remove(`u${i}`);
  assert.equal(full.isLow, true);

  const short = filled(8);
  assert.equal(short.isLow, false);
  for (let i = 1; i <= 3; i += 1) short.remove(`u${i}`);
  assert.equal(short.isLow, false);
  short.remove("u4");
  assert.equal(short.isLow, true);
});

test("a question that is asked again comes in again, a late reply does not", () => {
  const queue = filled(3);
  const [first] = queue.ahead(1);
  queue.remove(first.uid);
  assert.equal(queue.push([first]), 0);
  assert.equal(queue.push([{ ...first, position: 99 }]), 1);
  assert.equal(queue.ahead(3).at(-1).position, 99);
});
